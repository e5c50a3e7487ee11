// JSON as models write it, which is more than strict parsers take: numbers of
// any size, escapes of half a surrogate pair, a name twice, and control
// characters within strings.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/json_value.h"

namespace rc::text::chat {

// Levels of values within each other that are read.
inline constexpr size_t kDeepestJson = 200;

// Reads one JSON value with spaces around it. Numbers keep their digits, half a
// surrogate pair becomes U+FFFD, and of two members of one name the last one
// holds. Returns nothing if the text is not JSON in this sense, or nests deeper
// than kDeepestJson.
std::optional<JsonValue> read_loose_json(std::string_view text);

// The same JSON with the control characters of its strings escaped, so that
// strict parsers take them.
std::string with_escaped_controls(std::string_view json);

// Appends a control character as JSON escapes it.
void append_control(char c, std::string* out);

}  // namespace rc::text::chat
