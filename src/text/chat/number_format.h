// Numbers and strings padded and spelled as Python's formatting has it, for
// both '%' and str.format().
#pragma once

#include <cstdint>
#include <string_view>

#include "text/chat/containers.h"
#include "text/chat/value.h"

namespace rc::text::chat {

struct FormatSpec {
  char32_t fill = ' ';
  char align = 0;  // '<', '>', '^', '=' (between sign and digits), 0: usual
  bool is_zero_filled = false;  // numbers between sign and digits, then
  char sign = '-';
  bool alternate = false;
  char grouping = 0;  // ',' or '_' between groups of digits
  int64_t width = 0;
  int precision = -1;
  int min_digits = 0;  // of whole numbers
  char type = 0;
};

// The specification after the colon of a replacement field.
FormatSpec parse_format_spec(std::string_view text);

// format(value, spec)
Value format_value(Budget* budget, const Value& value, std::string_view spec);

// With what a specification says, for the types of numbers.
void write_number(Writer* out, const Value& value, const FormatSpec& spec);
// Cut to the precision and padded.
void write_padded(Writer* out, const Text& text, const FormatSpec& spec);

// A width or a precision that a template gives; `at` is moved past its digits.
int64_t parse_width(std::string_view text, size_t* at);

// The limit of the precision of floats: none has more digits.
inline constexpr int kMostDigits = 1100;

}  // namespace rc::text::chat
