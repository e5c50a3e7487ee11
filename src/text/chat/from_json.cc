#include "text/chat/from_json.h"

#include <charconv>
#include <limits>
#include <system_error>

#include "base/utf8.h"
#include "text/chat/containers.h"

namespace rc::text::chat {
namespace {

// The nearest double to a number that from_chars finds too large or too small.
double beyond_range(const std::string& text) {
  const bool negative = text[0] == '-';
  const size_t exponent = text.find_first_of("eE");
  const bool tiny = exponent == std::string::npos
                        ? text[negative ? 1 : 0] == '0'
                        : text[exponent + 1] == '-';
  const double number = tiny ? 0 : std::numeric_limits<double>::infinity();
  return negative ? -number : number;
}

Value number_value(const std::string& text) {
  const char* const end = text.data() + text.size();
  const bool whole = text.find_first_of(".eE") == std::string::npos;
  int64_t integer = 0;
  if (whole && std::from_chars(text.data(), end, integer).ec == std::errc()) {
    return Value::integer(integer);
  }
  double number = 0;
  if (std::from_chars(text.data(), end, number).ec == std::errc()) {
    return whole ? Value::digits(text, number) : Value::real(number);
  }
  return Value::digits(text, beyond_range(text));
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
