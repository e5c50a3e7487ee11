// Numbers and strings as they are written in templates.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace rc::text::chat {

struct NumberLiteral {
  size_t size = 0;  // bytes
  bool is_float = false;
  int64_t integer = 0;
  double real = 0;
};

// The number that the text, which begins with a digit, begins with. After a dot
// there is no float ("a.1.2" has two indices). Throws Fault.
NumberLiteral read_number(std::string_view text, bool after_dot);

// The bytes of the string that the text, which begins with a quote, begins
// with, its quotes too; 0 if it has no end.
size_t string_size(std::string_view text);

// The operator that the text begins with, the longest one; empty if there is
// none.
std::string_view read_operator(std::string_view text);

// Returns the value of a string between its quotes, with Python's escapes.
// Throws Fault.
std::string unescape(std::string_view quoted);

// "\r\n" and "\r" as "\n".
std::string normalize_newlines(std::string_view text);

}  // namespace rc::text::chat
