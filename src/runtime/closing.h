// Closing devices off the threads that run event loops: a driver may take a
// tenth of a second for it.
#pragma once

#include "runcible/plugin.h"

namespace rc::runtime {

// On a thread that runs an event loop: has a thread of its own close the device
// and says true. The end of the process waits a few seconds for those under
// way. Elsewhere, and where no thread starts: false, and nothing is done.
bool close_off_loop(const rc_plugin& plugin, rc_plugin_device* device) noexcept;

// Closes it on the calling thread. A plugin may throw.
void close_device(const rc_plugin& plugin, rc_plugin_device* device) noexcept;

}  // namespace rc::runtime
