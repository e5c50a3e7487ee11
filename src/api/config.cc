#include "runcible/config.h"

#include <string_view>

#include "api/guard.h"
#include "api/returned_memory.h"
#include "base/config/settings.h"
#include "base/environment.h"
#include "base/json_value.h"
#include "base/process.h"

namespace rc::api {
namespace {

const char* layer_name(config::Layer layer) {
  switch (layer) {
    case config::Layer::kFile:
      return "file";
    case config::Layer::kEnvironment:
      return "environment";
    case config::Layer::kProgram:
      return "program";
    default:
      return "initial";
  }
}

// The values of settings are finite, so that TOML writes them as JSON does.
std::string to_json(const config::Key& key,
                    const std::optional<config::Setting>& setting) {
  std::string value;  // as a file has it; "": none
  if (setting) {
    value = config::file_text(setting->value);
  } else if (key.initial != nullptr) {
    value = config::file_text(config::initial_value(key));
  }
  return cat("{\"key\":", json_text(key.name),
             ",\"value\":", value.empty() ? "null" : value.c_str(),
             ",\"toml\":", json_text(value), ",\"source\":\"",
             layer_name(setting ? setting->layer : config::Layer::kInitial),
             "\",\"line\":", setting ? setting->line : 0,
             ",\"variable\":", json_text(key.variable),
             ",\"allowed\":", json_text(config::allowed(key)),
             ",\"meaning\":", json_text(key.meaning), "}");
}

// Returns whether a backend module reads the variable.
bool is_of_module(std::string_view variable) {
  for (const std::string_view prefix :
       {"RUNCIBLE_OPENCL_", "RUNCIBLE_VULKAN_", "RUNCIBLE_WEBGPU_"}) {
    if (variable.starts_with(prefix)) return true;
  }
  return false;
}

bool is_setting(std::string_view variable) {
  if (variable == "RUNCIBLE_CONFIG" || is_of_module(variable)) return true;
  for (const config::Key& key : config::keys()) {
    if (variable == key.variable) return true;
  }
  return false;
}

std::string other_variables() {
  std::string list;
  for (const std::string& entry : environment_entries()) {
    const std::string name = entry.substr(0, entry.find('='));
    if (!name.starts_with("RUNCIBLE_") || is_setting(name) ||
        !environment(name.c_str())) {
      continue;
    }
    list += cat(list.empty() ? "" : ",", "{\"name\":", json_text(name),
                ",\"nearest\":",
                json_text(config::nearest_variable(name)->variable), "}");
  }
  return list;
}

std::string report() {
  const auto settings = config::Settings::now();
  const config::File& file = settings->file();
  std::string list;
  for (const config::Key& key : config::keys()) {
    list +=
        cat(list.empty() ? "" : ",", to_json(key, settings->find(key.name)));
  }
  return cat("{\"path\":", json_text(file.place.path),
             ",\"path_from\":", json_text(file.place.said_by),
             ",\"exists\":", file.exists ? "true" : "false", ",\"settings\":[",
             list, "],\"other_variables\":[", other_variables(), "]}");
}

}  // namespace
}  // namespace rc::api

rc_status rc_config_use_file(const char* path) {
  return rc::api::guard([&] {
    rc::config::use_file(path == nullptr ? std::nullopt
                                         : std::optional<std::string>(path));
  });
}

rc_status rc_config_set(const char* key, const char* value) {
  return rc::api::guard([&] {
    rc::api::need_pointer(key, "key");
    rc::config::set(key, value == nullptr ? std::nullopt
                                          : std::optional<std::string>(value));
  });
}

rc_status rc_config_report(char** json) {
  return rc::api::guard([&] {
    rc::api::need_pointer(json, "json");
    *json = rc::api::return_text(rc::api::report()).release();
  });
}
