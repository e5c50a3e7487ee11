#include "text/chat/from_json.h"

#include "base/error.h"
#include "base/utf8.h"
#include "text/chat/containers.h"

namespace rc::text::chat {
namespace {

constexpr int kDeepestJson = 200;

Value convert(const nlohmann::ordered_json& json, Origin origin, int depth) {
  if (depth > kDeepestJson) {
    fail(RC_E_INVALID_ARGUMENT, "JSON for a chat template is nested more than ",
         kDeepestJson, " levels deep: flatten it");
  }
  switch (json.type()) {
    case nlohmann::json::value_t::null:
      return Value::none().with_origin(origin);
    case nlohmann::json::value_t::boolean:
      return Value::boolean(json.get<bool>()).with_origin(origin);
    case nlohmann::json::value_t::number_integer:
      return Value::integer(json.get<int64_t>()).with_origin(origin);
    case nlohmann::json::value_t::number_unsigned: {
      const auto number = json.get<uint64_t>();
      if (number > INT64_MAX) {
        fail(RC_E_INVALID_ARGUMENT, "the number ", number,
             " in JSON for a chat template has more than 64 bits with its "
             "sign: give it as a string");
      }
      return Value::integer(static_cast<int64_t>(number)).with_origin(origin);
    }
    case nlohmann::json::value_t::number_float:
      return Value::real(json.get<double>()).with_origin(origin);
    case nlohmann::json::value_t::string:
      return Value::string(valid_utf8(json.get_ref<const std::string&>()),
                           origin);
    case nlohmann::json::value_t::array: {
      std::vector<Value> items;
      items.reserve(json.size());
      for (const auto& item : json) {
        items.push_back(convert(item, origin, depth + 1));
      }
      return make_sequence(nullptr, Kind::kList, std::move(items));
    }
    case nlohmann::json::value_t::object: {
      std::vector<Dict::Entry> entries;
      entries.reserve(json.size());
      for (const auto& [key, value] : json.items()) {
        entries.emplace_back(Value::string(valid_utf8(key), origin),
                             convert(value, origin, depth + 1));
      }
      return make_dict(nullptr, std::move(entries));
    }
    default:
      fail(RC_E_INVALID_ARGUMENT,
           "binary data in JSON for a chat template: give it as a string");
  }
}

}  // namespace

Value from_json(const nlohmann::ordered_json& json, Origin origin) {
  return convert(json, origin, 0);
}

}  // namespace rc::text::chat
