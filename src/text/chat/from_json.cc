#include "text/chat/from_json.h"

#include <charconv>

#include "base/error.h"
#include "base/utf8.h"
#include "text/chat/containers.h"

namespace rc::text::chat {
namespace {

Value number_value(const std::string& text) {
  const char* const end = text.data() + text.size();
  if (text.find_first_of(".eE") != std::string::npos) {
    double number = 0;
    std::from_chars(text.data(), end, number);
    return Value::real(number);
  }
  int64_t number = 0;
  if (std::from_chars(text.data(), end, number).ec != std::errc()) {
    fail(RC_E_INVALID_ARGUMENT, "the number ", text.substr(0, 40),
         " in JSON for a chat template has more than 64 bits with its sign: "
         "give it as a string");
  }
  return Value::integer(number);
}

}  // namespace

Value from_json(const JsonValue& json, Origin origin) {
  switch (json.type) {
    case JsonValue::Type::kNull:
      return Value::none().with_origin(origin);
    case JsonValue::Type::kFalse:
    case JsonValue::Type::kTrue:
      return Value::boolean(json.is(JsonValue::Type::kTrue))
          .with_origin(origin);
    case JsonValue::Type::kNumber:
      return number_value(json.text).with_origin(origin);
    case JsonValue::Type::kString:
      return Value::string(valid_utf8(json.text), origin);
    case JsonValue::Type::kArray: {
      std::vector<Value> items;
      items.reserve(json.items.size());
      for (const JsonValue& item : json.items) {
        items.push_back(from_json(item, origin));
      }
      return make_sequence(nullptr, Kind::kList, std::move(items));
    }
    case JsonValue::Type::kObject:
      break;
  }
  std::vector<Dict::Entry> entries;
  entries.reserve(json.members.size());
  for (const auto& [name, member] : json.members) {
    entries.emplace_back(Value::string(valid_utf8(name), origin),
                         from_json(member, origin));
  }
  return make_dict(nullptr, std::move(entries));
}

}  // namespace rc::text::chat
