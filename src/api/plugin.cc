#include "runcible/plugin.h"

#include "api/guard.h"
#include "api/options.h"
#include "runtime/registry.h"

using rc::api::guard;
using rc::api::need_pointer;

rc_status rc_plugin_register(const rc_plugin* plugin) {
  return guard([&] {
    need_pointer(plugin, "plugin");
    rc::api::check_struct_size(plugin->struct_size, "plugin");
    rc::runtime::register_plugin(*plugin);
  });
}

rc_status rc_plugin_load(const char* path) {
  return guard([&] {
    need_pointer(path, "path");
    if (*path == '\0') rc::fail(RC_E_INVALID_ARGUMENT, "path: empty");
    rc::runtime::load_plugin(path);
  });
}
