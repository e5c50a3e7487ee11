// The driver as a module.
#include "plugin.h"

extern "C" RC_API const rc_plugin* rc_plugin_entry(void);
const rc_plugin* rc_plugin_entry(void) { return &rc::host::plugin(); }
