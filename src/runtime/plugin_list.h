// The plugins of the process: built in, registered, or found as modules.
//
// Thread-safe. Pointers to entries live for ever, those of plugins that were
// taken out, too.
#pragma once

#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runcible/plugin.h"
#include "runtime/search_progress.h"

namespace rc::runtime {

struct PluginEntry {
  rc_plugin table;  // our copy; NULL for members that an older plugin has not
  std::string name;
  std::string description;
  bool built_in = false;
  std::string path;      // of the module; "" if built in or registered
  bool removed = false;  // guarded by the list
};

// A file that looks like a module, but gives no plugin now, or a backend that
// was not built.
struct ModuleFailure {
  std::string name;  // by the file's name
  std::string path;  // "": not built
  std::string reason;
};

class PluginList {
 public:
  // With the built-in plugins in it.
  static PluginList& instance();

  // See rc_plugin_register.
  void add(const rc_plugin& table, bool built_in, const std::string& path);
  // Removes an added plugin: it is no longer found, and its name is free. Open
  // devices remain. Does nothing if there is none.
  void remove(std::string_view name);
  // See rc_plugin_load.
  void load(const std::string& path);
  // Loads the modules librunciblebackend-*.so of the folders in
  // RUNCIBLE_PLUGIN_PATH, next to the library, and where they are installed for
  // the library or the program that contains it, unless that has been tried
  // before. Each is first tried in a separate process (see module_probe.h).
  // Returns every failure so far, and the modules that were not built and are
  // not present. Without `software`, modules with only software devices are not
  // loaded, which counts as a failure. Throws RC_E_CANCELLED.
  std::vector<ModuleFailure> load_modules(bool software = true,
                                          SearchProgress progress = {});

  // Modules of this backend (of all, for "") that could not be loaded are tried
  // again by the next load_modules(), also those that crashed. Gives how many
  // were known to crash or hang; nullopt: there is no module of that name.
  std::optional<int> forget_failures(std::string_view name);

  // In the order of their arrival.
  std::vector<const PluginEntry*> entries() const;
  // nullptr: none of that name.
  const PluginEntry* find(std::string_view name) const;
  // The owner of the table, also if it was removed; nullptr: not one of these.
  const PluginEntry* entry_of(const rc_plugin& table) const;
  // Whether the functions are those of a plugin that is built in.
  bool is_built_in(const rc_plugin& table) const;

 private:
  struct Module {
    ModuleFailure failure;       // no reason: it is loaded
    bool only_software = false;  // and for that not loaded
  };
  Module try_module(const std::string& name, const std::string& path,
                    bool software, const SearchProgress& progress);

  mutable std::mutex mutex_;
  std::deque<PluginEntry> entries_;
  std::mutex loading_;
  std::map<std::string, Module> tried_;  // by path
};

}  // namespace rc::runtime
