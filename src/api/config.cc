#include "runcible/config.h"

#include <unistd.h>

#include <nlohmann/json.hpp>
#include <string_view>

#include "api/guard.h"
#include "api/returned_memory.h"
#include "base/config/account.h"
#include "base/environment.h"

namespace rc::api {
namespace {

using Json = nlohmann::ordered_json;

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

Json to_json(const config::Value& value) {
  if (const auto* text = std::get_if<config::Text>(&value)) return text->get();
  if (const auto* flag = std::get_if<bool>(&value)) return *flag;
  if (const auto* whole = std::get_if<int64_t>(&value)) return *whole;
  return std::get<double>(value);
}

Json to_json(const config::Key& key,
             const std::optional<config::Setting>& setting) {
  Json json = {{"key", key.name}, {"value", nullptr}, {"toml", ""}};
  if (setting) {
    json["value"] = to_json(setting->value);
    json["toml"] = config::file_text(setting->value);
  } else if (key.initial != nullptr) {
    const config::Value value = config::initial_value(key);
    json["value"] = to_json(value);
    json["toml"] = config::file_text(value);
  }
  json["source"] =
      layer_name(setting ? setting->layer : config::Layer::kInitial);
  json["line"] = setting ? setting->line : 0;
  json["variable"] = key.variable;
  json["allowed"] = config::allowed(key);
  json["meaning"] = key.meaning;
  return json;
}

bool is_setting(std::string_view variable) {
  if (variable == "RUNCIBLE_CONFIG") return true;
  for (const config::Key& key : config::keys()) {
    if (variable == key.variable) return true;
  }
  return false;
}

Json other_variables() {
  Json list = Json::array();
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const std::string name(text.substr(0, text.find('=')));
    if (!name.starts_with("RUNCIBLE_") || is_setting(name) ||
        !environment(name.c_str())) {
      continue;
    }
    list.push_back({{"name", name},
                    {"nearest", config::nearest_variable(name)->variable}});
  }
  return list;
}

std::string report() {
  const auto account = config::Account::now();
  const config::File& file = account->file();
  Json settings = Json::array();
  for (const config::Key& key : config::keys()) {
    settings.push_back(to_json(key, account->find(key.name)));
  }
  const Json json = {{"path", file.place.path},
                     {"path_from", file.place.said_by},
                     {"exists", file.exists},
                     {"settings", std::move(settings)},
                     {"other_variables", other_variables()}};
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
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
