// Numbers to text and back.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

#include "base/checked.h"
#include "text/chat/numbers.h"
#include "text/chat/unicode.h"

namespace rc::text::chat {
namespace {

std::string not_finite(double value) {
  if (std::isnan(value)) return "nan";
  return value < 0 ? "-inf" : "inf";
}

std::string chars_of(double value, std::chars_format format, int precision) {
  if (!std::isfinite(value)) return not_finite(value);
  // The largest float has 309 digits before the point.
  std::string text(static_cast<size_t>(precision) + 330, '\0');
  const auto end = std::to_chars(text.data(), text.data() + text.size(), value,
                                 format, precision)
                       .ptr;
  text.resize(static_cast<size_t>(end - text.data()));
  return text;
}

// The text without what Python allows around and within numbers: spaces,
// underscores between digits, other digits than ASCII's. Nothing if an
// underscore is where none may be.
std::optional<std::string> plain_digits(std::string_view text) {
  std::string plain;
  bool after_digit = false;
  bool after_underscore = false;
  for (const Character& c : characters(strip_spaces(text))) {
    if (c.code_point == '_') {
      if (!after_digit) return std::nullopt;
      after_digit = false;
      after_underscore = true;
      continue;
    }
    const int digit = decimal_digit(c.code_point);
    if (digit < 0 && c.code_point >= 0x80) return std::nullopt;
    const char byte = digit >= 0 ? static_cast<char>('0' + digit)
                                 : static_cast<char>(c.code_point);
    after_digit = digit >= 0 || (byte >= 'a' && byte <= 'z') ||
                  (byte >= 'A' && byte <= 'Z');
    if (after_underscore && !after_digit) return std::nullopt;
    after_underscore = false;
    plain += byte;
  }
  if (after_underscore) return std::nullopt;
  return plain;
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Whether all of it is [digits][.digits][e[+-]digits] with a digit before e.
bool is_float_syntax(std::string_view text) {
  size_t at = 0;
  const auto digits = [&] {
    const size_t begin = at;
    while (at < text.size() && is_digit(text[at])) ++at;
    return at - begin;
  };
  size_t count = digits();
  if (at < text.size() && text[at] == '.') {
    ++at;
    count += digits();
  }
  if (count == 0) return false;
  if (at < text.size() && (text[at] == 'e' || text[at] == 'E')) {
    ++at;
    if (at < text.size() && (text[at] == '+' || text[at] == '-')) ++at;
    if (digits() == 0) return false;
  }
  return at == text.size();
}

}  // namespace

std::string float_text(double value) {
  if (!std::isfinite(value)) return not_finite(value);
  char buffer[64];
  const auto end = std::to_chars(buffer, buffer + sizeof(buffer), value,
                                 std::chars_format::scientific)
                       .ptr;
  const std::string_view text(buffer, static_cast<size_t>(end - buffer));
  const size_t e = text.find('e');
  const bool negative = text[0] == '-';
  std::string digits;
  for (const char c : text.substr(0, e)) {
    if (is_digit(c)) digits += c;
  }
  int exponent = 0;
  const size_t sign = text[e + 1] == '+' ? 2 : 1;
  std::from_chars(text.data() + e + sign, text.data() + text.size(), exponent);
  std::string out = negative ? "-" : "";
  // Python's repr() changes over at 1e16 and 1e-4.
  if (exponent < -4 || exponent >= 16) {
    out += digits[0];
    if (digits.size() > 1) out += "." + digits.substr(1);
    const int size = std::abs(exponent);
    out += exponent < 0 ? "e-" : "e+";
    if (size < 10) out += '0';
    return out + std::to_string(size);
  }
  if (exponent < 0) {
    out += "0.";
    out.append(static_cast<size_t>(-exponent - 1), '0');
    return out + digits;
  }
  const auto whole = static_cast<size_t>(exponent) + 1;
  if (digits.size() < whole) digits.append(whole - digits.size(), '0');
  out += digits.substr(0, whole) + ".";
  return out + (digits.size() > whole ? digits.substr(whole) : "0");
}

std::string fixed_text(double value, int digits) {
  return chars_of(value, std::chars_format::fixed, digits);
}

std::string exponent_text(double value, int digits) {
  return chars_of(value, std::chars_format::scientific, digits);
}

std::optional<int64_t> parse_int(std::string_view text, int base) {
  const std::optional<std::string> plain = plain_digits(text);
  if (!plain) return std::nullopt;
  std::string_view rest = *plain;
  const bool negative = rest.starts_with('-');
  if (negative || rest.starts_with('+')) rest.remove_prefix(1);
  const auto prefixed = [&](char letter, int with) {
    if ((base != with && base != 0) || rest.size() < 2 || rest[0] != '0' ||
        (rest[1] | 0x20) != letter) {
      return false;
    }
    rest.remove_prefix(2);
    base = with;
    return true;
  };
  const bool has_prefix =
      prefixed('x', 16) || prefixed('o', 8) || prefixed('b', 2);
  if (!has_prefix && base == 0) {
    // int("010", 0) is refused as the literal would be.
    if (rest.starts_with('0') &&
        rest.find_first_not_of('0') != std::string_view::npos) {
      return std::nullopt;
    }
    base = 10;
  }
  if (rest.empty()) return std::nullopt;
  int64_t value = 0;
  bool overflow = false;
  for (const char c : rest) {
    const int digit = is_digit(c)            ? c - '0'
                      : c >= 'a' && c <= 'z' ? c - 'a' + 10
                      : c >= 'A' && c <= 'Z' ? c - 'A' + 10
                                             : 99;
    if (digit >= base) return std::nullopt;
    const auto scaled = checked_mul<int64_t>(value, base);
    // Towards the negative side, which reaches one further.
    const auto next =
        scaled ? checked_add<int64_t>(*scaled, -digit) : std::nullopt;
    overflow = overflow || !next;
    if (next) value = *next;
  }
  if (overflow || (!negative && value == INT64_MIN)) {
    fault_of_limit(
        "the text is a whole number of more than 64 bits: leave it "
        "a string, or make a float of it");
  }
  return negative ? value : -value;
}

std::optional<double> parse_float(std::string_view text) {
  const std::optional<std::string> plain = plain_digits(text);
  if (!plain) return std::nullopt;
  std::string_view rest = *plain;
  const double sign = rest.starts_with('-') ? -1.0 : 1.0;
  if (rest.starts_with('-') || rest.starts_with('+')) rest.remove_prefix(1);
  std::string lower(rest);
  std::transform(lower.begin(), lower.end(), lower.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c;
  });
  if (lower == "inf" || lower == "infinity") {
    return sign * std::numeric_limits<double>::infinity();
  }
  if (lower == "nan") return std::numeric_limits<double>::quiet_NaN();
  if (!is_float_syntax(lower)) return std::nullopt;
  double value = 0;
  const auto result =
      std::from_chars(lower.data(), lower.data() + lower.size(), value);
  if (result.ec == std::errc::result_out_of_range) {
    // Too large or too small: by the sign of the exponent.
    const size_t e = lower.find("e-");
    value =
        e != std::string::npos ? 0.0 : std::numeric_limits<double>::infinity();
  }
  return sign * value;
}

}  // namespace rc::text::chat
