#include "runcible/plugin.h"

#include <algorithm>
#include <cstring>

#include "api/guard.h"
#include "api/options.h"
#include "runtime/registry.h"

using rc::api::guard;
using rc::api::need_pointer;

rc_status rc_plugin_register(const rc_plugin* plugin) {
  return guard([&] {
    need_pointer(plugin, "plugin");
    rc::api::check_struct_size(plugin->struct_size, "plugin");
    if (plugin->struct_size < offsetof(rc_plugin, name)) {
      rc::fail(RC_E_INVALID_ARGUMENT,
               "plugin->struct_size: ", plugin->struct_size,
               " has no room for abi_version");
    }
    if (plugin->abi_version != RC_PLUGIN_ABI_VERSION) {
      rc::fail(RC_E_ABI, "plugin->abi_version: ", plugin->abi_version,
               ", but this library joins version ", RC_PLUGIN_ABI_VERSION,
               "; build the plugin with its headers");
    }
    // A smaller table lacks optional functions, a larger one has some that
    // nobody here will call.
    rc_plugin table{};
    std::memcpy(&table, plugin, std::min(plugin->struct_size, sizeof(table)));
    table.struct_size = sizeof(table);
    rc::runtime::register_plugin(table);
  });
}

rc_status rc_plugin_load(const char* path) {
  return guard([&] {
    need_pointer(path, "path");
    if (*path == '\0') rc::fail(RC_E_INVALID_ARGUMENT, "path: empty");
    rc::runtime::load_plugin(path);
  });
}
