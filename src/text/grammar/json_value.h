// JSON texts as trees that keep the order of members and the digits of numbers.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace rc::text::grammar {

struct JsonValue {
  enum class Type { kNull, kFalse, kTrue, kNumber, kString, kArray, kObject };
  Type type = Type::kNull;
  std::string text{};  // of a string; of a number as it is written
  std::vector<JsonValue> items{};
  std::vector<std::pair<std::string, JsonValue>> members{};  // names differ

  bool is(Type other) const { return type == other; }
  bool is_bool() const { return type == Type::kFalse || type == Type::kTrue; }
  // The member of an object, or nullptr.
  const JsonValue* find(std::string_view name) const;
};

// Throws RC_E_INVALID_ARGUMENT, with the byte, if the text is not JSON, an
// object has two members of one name, or values nest deeper than max_depth.
JsonValue parse_json(std::string_view text, size_t max_depth);

// A JSON pointer (RFC 6901) with one more name.
std::string pointer_to(std::string_view pointer, std::string_view name);

}  // namespace rc::text::grammar
