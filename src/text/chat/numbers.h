// Numbers as Python has them: their text, their order, their arithmetic. Whole
// numbers have 64 bits here; what needs more is an error, never a wrong number.
#pragma once

#include <compare>
#include <optional>
#include <string>
#include <string_view>

#include "text/chat/value.h"

namespace rc::text::chat {

// Exact, also between whole numbers and others.
std::partial_ordering compare_numbers(const Value& a, const Value& b);

// repr() of a float: the shortest text that reads back as the same number.
std::string float_text(double value);
// A float with a fixed number of digits after the point, as '%.*f' has it.
std::string fixed_text(double value, int digits);
// As '%.*e' has it.
std::string exponent_text(double value, int digits);

// The number that int(text, base) and float(text) read, spaces around it and
// underscores within it allowed; nothing if it is none.
std::optional<int64_t> parse_int(std::string_view text, int base);
std::optional<double> parse_float(std::string_view text);
// A finite or other float cut to a whole number; nothing if it is no number.
std::optional<int64_t> truncate_to_int(double value);

enum class Arithmetic { kAdd, kSub, kMul, kDiv, kFloorDiv, kMod, kPow };
// Of two numbers; the result is content if one of them is.
Value calculate(Arithmetic operation, const Value& a, const Value& b);
Value negate(const Value& a);
// round(value, digits) and the like of the filter round.
Value round_number(const Value& value, int64_t digits);

}  // namespace rc::text::chat
