#include "runtime/plugin_list.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <filesystem>
#include <memory>

#include "base/environment.h"
#include "base/error.h"
#include "base/log.h"
#include "base/own_folder.h"
#include "cpu/plugin.h"
#include "reference/plugin.h"
#include "runtime/host_memory.h"
#include "runtime/module_probe.h"

namespace rc::runtime {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kModulePrefix = "librunciblebackend-";
constexpr std::string_view kModuleSuffix = ".so";

void check_name(const char* name) {
  const std::string_view text = name == nullptr ? "" : name;
  const bool good =
      !text.empty() && text.size() <= 64 &&
      std::all_of(text.begin(), text.end(), [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
      });
  if (!good || text == "auto") {
    fail(RC_E_INVALID_ARGUMENT, "a plugin is called \"", text.substr(0, 64),
         "\"; a name is 1 to 64 lower case letters, digits and '_', and not "
         "\"auto\"");
  }
}

// Our copy of the table, as far as the plugin has filled it.
rc_plugin copy_table(const rc_plugin& given) {
  if (given.struct_size <
      offsetof(rc_plugin, abi_version) + sizeof given.abi_version) {
    fail(RC_E_INVALID_ARGUMENT, "the table of a plugin has struct_size ",
         given.struct_size, "; it should be ", sizeof(rc_plugin));
  }
  if (given.abi_version != RC_PLUGIN_ABI_VERSION) {
    fail(RC_E_ABI, "a plugin was built for version ", given.abi_version,
         " of the plugin ABI; this library has version ", RC_PLUGIN_ABI_VERSION,
         "; build the plugin anew");
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
           " lacks the required function ", function.name);
    }
  }
}

std::vector<fs::path> module_folders() {
  std::vector<fs::path> folders;
  const std::string list = environment("RUNCIBLE_PLUGIN_PATH").value_or("");
  size_t begin = 0;
  while (begin <= list.size()) {
    const size_t end = std::min(list.find(':', begin), list.size());
    if (end > begin) folders.emplace_back(list.substr(begin, end - begin));
    begin = end + 1;
  }
  const fs::path own = own_folder();
  if (own.empty()) return folders;
  folders.push_back(own);
  for (const char* way : {RC_LIBRARY_TO_MODULES, RC_PROGRAM_TO_MODULES}) {
    fs::path folder = (own / way).lexically_normal();
    std::error_code error;
    if (fs::is_directory(folder, error)) folders.push_back(std::move(folder));
  }
  return folders;
}

// The modules of a folder in the order of their names. A folder that cannot be
// read has none.
std::vector<fs::path> modules_in(const fs::path& folder) {
  std::vector<fs::path> modules;
  std::error_code error;
  fs::directory_iterator entry(folder, error);
  for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    if (name.size() > kModulePrefix.size() + kModuleSuffix.size() &&
        name.starts_with(kModulePrefix) && name.ends_with(kModuleSuffix)) {
      modules.push_back(entry->path());
    }
  }
  if (error) {
    log(RC_LOG_WARNING, "cannot look for backends in ", folder.string(), ": ",
        error.message());
  }
  std::sort(modules.begin(), modules.end());
  return modules;
}

std::string module_name(const fs::path& path) {
  const std::string file = path.filename().string();
  return file.substr(kModulePrefix.size(),
                     file.size() - kModulePrefix.size() - kModuleSuffix.size());
}

}  // namespace

PluginList& PluginList::instance() {
  // Never destroyed: devices may outlive static objects.
  static PluginList* list = [] {
    auto made = std::make_unique<PluginList>();
    made->add(*cpu::plugin(), true, "");
    made->add(*reference::plugin(), true, "");
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
    if (other.name != entry.name) continue;
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

void PluginList::load(const std::string& path) {
  using Entry = const rc_plugin* (*)();
  struct Unload {
    void operator()(void* module) const { dlclose(module); }
  };
  std::unique_ptr<void, Unload> module(
      dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL));
  if (module == nullptr) {
    const char* reason = dlerror();
    fail(RC_E_IO, "cannot load the module ", path, ": ",
         reason == nullptr ? "no reason is given" : reason);
  }
  const auto entry =
      reinterpret_cast<Entry>(dlsym(module.get(), "rc_plugin_entry"));
  if (entry == nullptr) {
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
  module.release();
}

std::vector<ModuleFailure> PluginList::load_modules() {
  const std::lock_guard lock(loading_);
  for (const fs::path& folder : module_folders()) {
    for (const fs::path& file : modules_in(folder)) {
      std::error_code ignored;
      const fs::path real = fs::weakly_canonical(file, ignored);
      const std::string path = real.empty() ? file.string() : real.string();
      if (tried_.contains(path)) continue;
      ModuleFailure result = {module_name(file), path, ""};
      try {
        result.reason = probe_module(path);
        if (result.reason.empty()) load(path);
      } catch (const Error& error) {
        result.reason = error.message();
      }
      if (!result.reason.empty()) log(RC_LOG_WARNING, result.reason);
      tried_.emplace(path, std::move(result));
    }
  }
  std::vector<ModuleFailure> failures;
  for (const auto& [path, result] : tried_) {
    if (!result.reason.empty()) failures.push_back(result);
  }
  return failures;
}

std::vector<const PluginEntry*> PluginList::entries() const {
  const std::lock_guard lock(mutex_);
  std::vector<const PluginEntry*> all;
  for (const PluginEntry& entry : entries_) all.push_back(&entry);
  return all;
}

const PluginEntry* PluginList::find(std::string_view name) const {
  const std::lock_guard lock(mutex_);
  for (const PluginEntry& entry : entries_) {
    if (entry.name == name) return &entry;
  }
  return nullptr;
}

}  // namespace rc::runtime
