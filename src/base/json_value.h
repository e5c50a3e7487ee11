// JSON texts as trees that keep the order of members and the digits of numbers.
//
// The library builds no values of nlohmann's type: their noexcept destructor
// allocates memory, so a failed allocation there would end the process. It
// reads with nlohmann's parser (here, and by events in files/safetensors/) and
// writes JSON as text.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace rc {

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
  // The same if there is one and it is not null.
  const JsonValue* find_given(std::string_view name) const;
  bool operator==(const JsonValue&) const = default;
};

// The tree of a JSON text that an argument of this name holds. Throws
// RC_E_INVALID_ARGUMENT, with the byte, if it is not JSON, an object has two
// members of one name, or values nest deeper than max_depth.
JsonValue parse_json(std::string_view text, std::string_view name,
                     size_t max_depth);

// On one line, with no spaces but those of strings. Bytes that are no UTF-8
// become U+FFFD.
std::string json_text(const JsonValue& value);
std::string json_text(std::string_view string);

// Returns whether a text is one JSON value.
bool is_json(std::string_view text);

// Describes the type of a value, as in "an object".
const char* type_name(const JsonValue& value);

// A JSON pointer (RFC 6901) with one more name.
std::string pointer_to(std::string_view pointer, std::string_view name);

}  // namespace rc
