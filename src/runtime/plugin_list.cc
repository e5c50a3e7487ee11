#include "runtime/plugin_list.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <memory>
#include <thread>

#include "base/config/settings.h"
#include "base/deep_stack.h"
#include "base/error.h"
#include "base/file.h"
#include "base/folder.h"
#include "base/library.h"
#include "base/log.h"
#include "base/module_directory.h"
#include "cpu/plugin.h"
#include "reference/plugin.h"
#include "runtime/backend_spec.h"
#include "runtime/host_memory.h"
#include "runtime/module_probe.h"
#include "runtime/not_built.h"
#ifdef RC_LINKED_WEBGPU  // in WebAssembly
#include "webgpu/plugin.h"
#endif

namespace rc::runtime {
namespace {

constexpr std::string_view kModulePrefix = "librunciblebackend-";
constexpr std::string_view kModuleSuffix = ".so";
constexpr std::chrono::milliseconds kBetweenQuestions(2);

void check_name(const char* name) {
  const std::string_view text = name == nullptr ? "" : name;
  const bool good =
      !text.empty() && text.size() <= 64 &&
      std::all_of(text.begin(), text.end(), [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
      });
  if (!good || is_reserved_name(text)) {
    fail(RC_E_INVALID_ARGUMENT, "a plugin is called \"", text.substr(0, 64),
         "\"; a name is 1 to 64 lower case letters, digits and '_', and not "
         "\"auto\", \"gpu\" or \"hip\"");
  }
}

// Our copy of the table, as far as the plugin has filled it.
rc_plugin copy_table(const rc_plugin& given) {
  if (given.struct_size < offsetof(rc_plugin, name)) {
    fail(RC_E_INVALID_ARGUMENT, "the table of a plugin has struct_size ",
         given.struct_size, "; it should be ", sizeof(rc_plugin));
  }
  if (given.abi_version < RC_PLUGIN_OLDEST_ABI_VERSION) {
    fail(RC_E_ABI, "a plugin was built for version ", given.abi_version,
         " of the plugin ABI; this library has version ", RC_PLUGIN_ABI_VERSION,
         " and can use plugins from version ", RC_PLUGIN_OLDEST_ABI_VERSION,
         " on; build the plugin again");
  }
  if (given.least_abi_version > RC_PLUGIN_ABI_VERSION) {
    fail(RC_E_ABI, "a plugin needs version ", given.least_abi_version,
         " of the plugin ABI at least; this library has version ",
         RC_PLUGIN_ABI_VERSION,
         "; use a newer library, or build the plugin with its headers");
  }
  rc_plugin table = {};
  std::memcpy(&table, &given, std::min(given.struct_size, sizeof table));
  table.struct_size = sizeof table;
  return table;
}

void check_functions(const rc_plugin& table) {
  const struct {
    const char* name;
    bool present;
  } functions[] = {
      {"device_count", table.device_count != nullptr},
      {"device_info", table.device_info != nullptr},
      {"open", table.open != nullptr},
      {"close", table.close != nullptr},
      {"op_supported", table.op_supported != nullptr},
      {"weight_bytes", table.weight_bytes != nullptr},
      {"create_weight", table.create_weight != nullptr},
      {"destroy_weight", table.destroy_weight != nullptr},
      {"create_buffer", table.create_buffer != nullptr},
      {"destroy_buffer", table.destroy_buffer != nullptr},
      {"upload", table.upload != nullptr},
      {"download", table.download != nullptr},
      {"compile", table.compile != nullptr},
      {"destroy_compiled", table.destroy_compiled != nullptr},
      {"run", table.run != nullptr},
  };
  for (const auto& function : functions) {
    if (!function.present) {
      fail(RC_E_INVALID_ARGUMENT, "the plugin ", table.name,
           " does not define the required function ", function.name);
    }
  }
}

std::vector<std::string> module_folders() {
  std::vector<std::string> folders;
  const std::string list = config::text_now("library.plugin_path").value_or("");
  size_t begin = 0;
  while (begin <= list.size()) {
    const size_t end = std::min(list.find(':', begin), list.size());
    if (end > begin) folders.emplace_back(list.substr(begin, end - begin));
    begin = end + 1;
  }
  const std::string own = module_directory();
  if (own.empty()) return folders;
  folders.push_back(own);
  for (const char* way : {RC_LIBRARY_TO_MODULES, RC_PROGRAM_TO_MODULES}) {
    std::string folder = cat(own, "/", way);
    if (is_folder(folder)) folders.push_back(std::move(folder));
  }
  return folders;
}

bool is_module_name(std::string_view name) {
  return name.size() > kModulePrefix.size() + kModuleSuffix.size() &&
         name.starts_with(kModulePrefix) && name.ends_with(kModuleSuffix);
}

// "opencl" of "librunciblebackend-opencl.so".
std::string backend_name(std::string_view module) {
  module.remove_prefix(kModulePrefix.size());
  module.remove_suffix(kModuleSuffix.size());
  return std::string(module);
}

// The names of the modules of a folder. One that cannot be read has none.
std::vector<std::string> modules_in(const std::string& folder) {
  try {
    std::vector<std::string> names = names_in_folder(folder);
    std::erase_if(names,
                  [](const auto& name) { return !is_module_name(name); });
    return names;
  } catch (const Error& error) {
    log(RC_LOG_WARNING, "cannot look for backends: ", error.message());
    return {};
  }
}

// A module is known by its real path; by the given one if it has none.
std::string identity(const std::string& path) {
  try {
    return real_path(path);
  } catch (const Error&) {
    return path;
  }
}

struct ModulePath {
  std::string name;  // of the backend
  std::string path;
};

std::vector<ModulePath> module_paths() {
  std::vector<ModulePath> paths;
  for (const std::string& folder : module_folders()) {
    for (const std::string& name : modules_in(folder)) {
      paths.push_back({backend_name(name), identity(folder + "/" + name)});
    }
  }
  return paths;
}

// The loader would wait for who writes to a pipe.
void check_regular_file(const std::string& path) {
  const auto found = file_status(path);
  if (found && !found->is_file()) {
    fail(RC_E_IO, "the module ", path, " is not a regular file");
  }
}

}  // namespace

PluginList& PluginList::instance() {
  // Never destroyed: devices may outlive static objects.
  static PluginList* list = [] {
    auto made = std::make_unique<PluginList>();
    made->add(*cpu::plugin(), true, "");
    made->add(*reference::plugin(), true, "");
#ifdef RC_LINKED_WEBGPU
    // Its devices are tested as those of modules are.
    made->add(*webgpu::plugin(), true, webgpu::kScript);
#endif
    return made.release();
  }();
  return *list;
}

void PluginList::add(const rc_plugin& given, bool built_in,
                     const std::string& path) {
  rc_plugin table = copy_table(given);
  complete_with_host_memory(table);
  check_name(table.name);
  check_functions(table);
  PluginEntry entry;
  entry.table = table;
  entry.name = table.name;
  entry.description = table.description == nullptr ? "" : table.description;
  entry.built_in = built_in;
  entry.path = path;
  const std::lock_guard lock(mutex_);
  for (const PluginEntry& other : entries_) {
    if (other.removed || other.name != entry.name) continue;
    fail(RC_E_INVALID_ARGUMENT, "there is a backend called ", entry.name,
         " already",
         other.built_in        ? ", built in"
         : !other.path.empty() ? ", from " + other.path
                               : std::string());
  }
  entries_.push_back(std::move(entry));
  PluginEntry& added = entries_.back();
  added.table.name = added.name.c_str();
  added.table.description = added.description.c_str();
}

void PluginList::remove(std::string_view name) {
  const std::lock_guard lock(mutex_);
  for (PluginEntry& entry : entries_) {
    if (entry.name == name) entry.removed = true;
  }
}

void PluginList::load(const std::string& path) {
  // A bare name is looked for by the loader itself.
  if (path.find('/') != std::string::npos) check_regular_file(path);
  Library module = Library::load(path);
  if (!module.is_loaded()) {
    fail(RC_E_IO, "cannot load the module ", path, ": ",
         module.failure().empty() ? "no reason is given" : module.failure());
  }
  const rc_plugin* (*entry)() = nullptr;
  if (!module.find(entry, "rc_plugin_entry")) {
    fail(RC_E_FORMAT, "the module ", path, " exports no rc_plugin_entry");
  }
  const rc_plugin* table = entry();
  if (table == nullptr) {
    fail(RC_E_FORMAT, "rc_plugin_entry of the module ", path, " gave no table");
  }
  try {
    add(*table, false, path);
  } catch (const Error& error) {
    fail(error.status(), path, ": ", error.message());
  }
  // The module stays loaded: its functions may be called at any time.
  module.keep();
}

PluginList::Module PluginList::try_module(const std::string& name,
                                          const std::string& path,
                                          bool software,
                                          const SearchProgress& progress) {
  Module result = {{name, path, ""}};
  std::string& reason = result.failure.reason;
  const auto attempt = [&](const auto& step) {
    try {
      step();
    } catch (const Error& error) {
      if (error.status() == RC_E_CANCELLED) throw;
      reason = error.message();
    }
  };
  attempt([&] {
    check_regular_file(path);
    ModuleProbe probe = probe_module(path, progress);
    reason = std::move(probe.reason);
    result.only_software = probe.only_software && !software;
  });
  if (reason.empty() && result.only_software) {
    reason = "its devices are software alone; they are used if they are named";
    return result;
  }
  // That there is no thread for it says nothing about the module.
  if (reason.empty()) {
    on_deep_stack([&] { attempt([&] { load(path); }); });
  }
  if (!reason.empty()) log(RC_LOG_WARNING, reason);
  return result;
}

std::vector<ModuleFailure> PluginList::load_modules(bool software,
                                                    SearchProgress progress) {
  std::unique_lock lock(loading_, std::defer_lock);
  // The thread sanitizer does not know mutexes that wait for a time.
  while (!lock.try_lock()) {
    progress.waiting();
    std::this_thread::sleep_for(kBetweenQuestions);
  }
  const std::vector<ModulePath> modules = module_paths();
  std::vector<ModuleFailure> untried;
  for (size_t i = 0; i < modules.size(); ++i) {
    const auto& [name, path] = modules[i];
    progress.reached_modules(i, modules.size());
    const auto [known, is_new] = tried_.try_emplace(path);
    if (!is_new && !(known->second.only_software && software)) continue;
    try {
      known->second = try_module(name, path, software, progress);
    } catch (const Error& error) {
      tried_.erase(known);
      if (error.status() == RC_E_CANCELLED) throw;
      // There was no thread to try it on: the next call does.
      log(RC_LOG_WARNING, path, ": ", error.message());
      untried.push_back({name, path, error.message()});
    } catch (...) {
      // Nor was there memory.
      tried_.erase(known);
      throw;
    }
  }
  std::vector<ModuleFailure> failures = std::move(untried);
  for (const auto& [path, module] : tried_) {
    if (!module.failure.reason.empty()) failures.push_back(module.failure);
  }
  // A backend that this build omits may exist as a module of another build.
  for (const NotBuilt& lacking : not_built()) {
    const bool tried = std::any_of(
        failures.begin(), failures.end(),
        [&](const auto& failure) { return failure.name == lacking.name; });
    if (tried || find(lacking.name) != nullptr) continue;
    failures.push_back({lacking.name, "", lacking.reason});
  }
  return failures;
}

std::optional<int> PluginList::forget_failures(std::string_view name) {
  const std::lock_guard lock(loading_);
  std::optional<int> count;
  for (const ModulePath& module : module_paths()) {
    if (!name.empty() && module.name != name) continue;
    count = count.value_or(0) + (forget_failed_probe(module.path) ? 1 : 0);
    const auto known = tried_.find(module.path);
    if (known == tried_.end() || known->second.only_software) continue;
    if (!known->second.failure.reason.empty()) tried_.erase(known);
  }
  return count;
}

std::vector<const PluginEntry*> PluginList::entries() const {
  const std::lock_guard lock(mutex_);
  std::vector<const PluginEntry*> all;
  for (const PluginEntry& entry : entries_) {
    if (!entry.removed) all.push_back(&entry);
  }
  return all;
}

bool PluginList::is_built_in(const rc_plugin& table) const {
  const std::lock_guard lock(mutex_);
  return std::any_of(entries_.begin(), entries_.end(), [&](const auto& entry) {
    return entry.built_in && entry.table.open == table.open;
  });
}

const PluginEntry* PluginList::find(std::string_view name) const {
  const std::lock_guard lock(mutex_);
  for (const PluginEntry& entry : entries_) {
    if (!entry.removed && entry.name == name) return &entry;
  }
  return nullptr;
}

const PluginEntry* PluginList::entry_of(const rc_plugin& table) const {
  const std::lock_guard lock(mutex_);
  for (const PluginEntry& entry : entries_) {
    if (&entry.table == &table) return &entry;
  }
  return nullptr;
}

}  // namespace rc::runtime
