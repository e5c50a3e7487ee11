#include "text/chat/number_format.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/quote.h"
#include "text/chat/numbers.h"
#include "text/chat/objects.h"
#include "text/chat/print.h"
#include "text/chat/unicode.h"

namespace rc::text::chat {
namespace {

std::string upper_ascii(std::string text) {
  for (char& c : text) {
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c ^ 0x20);
  }
  return text;
}

std::string digits_of(uint64_t magnitude, int base) {
  char buffer[64];
  const auto end =
      std::to_chars(buffer, buffer + sizeof(buffer), magnitude, base).ptr;
  return std::string(buffer, end);
}

// "general" notation, with trailing zeros only if `alternate`. Without a type
// (`untyped`), fixed notation keeps one of the digits for after the point.
std::string general_text(double value, int precision, bool alternate,
                         bool untyped) {
  const int digits = precision == 0 ? 1 : precision;
  const std::string scientific = exponent_text(value, digits - 1);
  const size_t e = scientific.find('e');
  int exponent = 0;
  const size_t from = e + (scientific[e + 1] == '+' ? 2 : 1);
  std::from_chars(scientific.data() + from,
                  scientific.data() + scientific.size(), exponent);
  const bool fixed = exponent >= -4 && exponent < digits - (untyped ? 1 : 0);
  std::string body = fixed ? fixed_text(value, digits - 1 - exponent)
                           : scientific.substr(0, e);
  if (!alternate && body.find('.') != std::string::npos) {
    body.erase(body.find_last_not_of('0') + 1);
    if (body.back() == '.') body.pop_back();
  }
  return fixed ? body : body + scientific.substr(e);
}

// The magnitude of a float without sign.
std::string float_body(double value, const FormatSpec& spec) {
  const char type = static_cast<char>(spec.type | 0x20);
  const int precision = spec.precision < 0 ? 6 : spec.precision;
  std::string body;
  if (!std::isfinite(value)) {
    body = std::isnan(value) ? "nan" : "inf";
    if (spec.type == '%') body += '%';
  } else if (spec.type == '%') {
    body = fixed_text(value * 100, precision) + "%";
  } else if (type == 'f') {
    body = fixed_text(value, precision);
  } else if (type == 'e') {
    body = exponent_text(value, precision);
  } else if (spec.type == 0 && spec.precision < 0) {
    body = float_text(value);
  } else {
    body = general_text(value, precision, spec.alternate, spec.type == 0);
    if (spec.type == 0 && body.find_first_of(".e") == std::string::npos) {
      body += ".0";
    }
  }
  if (spec.alternate && std::isfinite(value) &&
      body.find('.') == std::string::npos) {
    body.insert(std::min(body.find_first_of("e%"), body.size()), 1, '.');
  }
  return spec.type >= 'E' && spec.type <= 'G' ? upper_ascii(body) : body;
}

std::string int_body(int64_t value, const FormatSpec& spec) {
  const uint64_t magnitude = value < 0 ? ~static_cast<uint64_t>(value) + 1
                                       : static_cast<uint64_t>(value);
  const int base = spec.type == 'b'                       ? 2
                   : spec.type == 'o'                     ? 8
                   : spec.type == 'x' || spec.type == 'X' ? 16
                                                          : 10;
  std::string digits = digits_of(magnitude, base);
  if (digits.size() < static_cast<size_t>(spec.min_digits)) {
    digits.insert(0, static_cast<size_t>(spec.min_digits) - digits.size(), '0');
  }
  return spec.type == 'X' ? upper_ascii(digits) : digits;
}

void group_digits(std::string* body, const FormatSpec& spec) {
  if (spec.grouping == 0) return;
  const size_t every = spec.type == 'b' || spec.type == 'o' ||
                               spec.type == 'x' || spec.type == 'X'
                           ? 4
                           : 3;
  size_t end = body->find_first_not_of("0123456789abcdefABCDEF");
  if (every == 3) end = body->find_first_not_of("0123456789");
  for (size_t at = std::min(end, body->size()); at > every;) {
    at -= every;
    body->insert(at, 1, spec.grouping);
  }
}

bool is_float_type(char type) {
  return type == '%' || (type != 0 && std::string_view("eEfFgG").find(type) !=
                                          std::string_view::npos);
}

}  // namespace

int64_t parse_width(std::string_view text, size_t* at) {
  int64_t width = 0;
  while (*at < text.size() && text[*at] >= '0' && text[*at] <= '9') {
    width = width * 10 + (text[(*at)++] - '0');
    if (width > INT32_MAX) fault("the width or precision is too large");
  }
  return width;
}

FormatSpec parse_format_spec(std::string_view text) {
  FormatSpec spec;
  const auto is_align = [](char c) {
    return c == '<' || c == '>' || c == '^' || c == '=';
  };
  size_t at = 0;
  if (!text.empty()) {
    const Utf8Char fill = decode_utf8(text);
    if (fill.size < text.size() && is_align(text[fill.size])) {
      spec.fill = fill.code_point;
      spec.align = text[fill.size];
      at = fill.size + size_t{1};
    } else if (is_align(text[0])) {
      spec.align = text[at++];
    }
  }
  const auto take = [&](std::string_view any) {
    if (at == text.size() || any.find(text[at]) == std::string_view::npos) {
      return '\0';
    }
    return text[at++];
  };
  if (const char sign = take("+- ")) spec.sign = sign;
  spec.alternate = take("#") != 0;
  if (take("0") != 0 && spec.align == 0) {
    spec.fill = '0';
    spec.is_zero_filled = true;
  }
  spec.width = parse_width(text, &at);
  spec.grouping = take(",_");
  if (take(".") != 0) {
    const size_t digits = at;
    spec.precision = static_cast<int>(parse_width(text, &at));
    if (at == digits) fault("the format ", quote(text), " has no precision");
  }
  if (at < text.size()) spec.type = text[at++];
  if (at < text.size()) fault("the format ", quote(text), " is invalid");
  return spec;
}

void write_padded(Writer* out, const Text& text, const FormatSpec& spec) {
  size_t end = text.size();
  size_t length = count_characters(text.bytes());
  if (spec.precision >= 0 && static_cast<size_t>(spec.precision) < length) {
    length = static_cast<size_t>(spec.precision);
    end = byte_offset(text.bytes(), length);
  }
  const auto width = static_cast<size_t>(spec.width);
  const size_t padding = width > length ? width - length : 0;
  const size_t left = spec.align == '>'   ? padding
                      : spec.align == '^' ? padding / 2
                                          : 0;
  std::string fill;
  append_utf8(spec.fill, &fill);
  out->repeat(Text(fill, Origin::kTemplate), left);
  out->append(text, 0, end);
  out->repeat(Text(fill, Origin::kTemplate), padding - left);
}

void write_number(Writer* out, const Value& value, const FormatSpec& spec) {
  std::string body;
  bool is_negative = false;
  if (value.is_int() && !is_float_type(spec.type)) {
    is_negative = value.as_int() < 0;
    body = int_body(value.as_int(), spec);
  } else {
    FormatSpec cut = spec;
    cut.precision = std::min(cut.precision, kMostDigits);
    const double number = value.as_real();
    is_negative = std::signbit(number) && !std::isnan(number);
    body = float_body(std::abs(number), cut);
  }
  group_digits(&body, spec);
  std::string sign = is_negative        ? "-"
                     : spec.sign != '-' ? std::string(1, spec.sign)
                                        : "";
  if (spec.alternate && value.is_int() && spec.type != 0 &&
      std::string_view("boxX").find(spec.type) != std::string_view::npos) {
    sign += '0';
    sign += spec.type;
  }
  FormatSpec padding = spec;
  padding.precision = -1;
  if (padding.align == 0) padding.align = spec.is_zero_filled ? '=' : '>';
  if (padding.align != '=') {
    write_padded(out, Text(sign + body, value.origin()), padding);
    return;
  }
  out->append(sign, value.origin());
  padding.align = '>';
  padding.width =
      std::max<int64_t>(padding.width - static_cast<int64_t>(sign.size()), 0);
  write_padded(out, Text(body, value.origin()), padding);
}

Value format_value(Budget* budget, const Value& value, std::string_view text) {
  if (text.empty()) {
    return to_string(budget, value).with_markup(false);
  }
  const FormatSpec spec = parse_format_spec(text);
  Writer out(budget);
  if (value.is_string()) {
    if ((spec.type != 0 && spec.type != 's') || spec.align == '=' ||
        spec.sign != '-' || spec.grouping != 0) {
      fault("the format ", quote(text), " is not for strings");
    }
    write_padded(&out, value.text(), spec);
    return out.finish();
  }
  if (value.is_undefined()) fault_undefined(value);
  if (!value.is_number()) {
    fault("the format ", quote(text), " is not for ", type_with_article(value));
  }
  const bool fits =
      spec.type == 0 || is_float_type(spec.type) ||
      (value.is_int() &&
       std::string_view("bdoxX").find(spec.type) != std::string_view::npos);
  if (!fits ||
      (value.is_int() && spec.precision >= 0 && !is_float_type(spec.type))) {
    fault("the format ", quote(text), " is not for ", type_with_article(value));
  }
  write_number(&out, value, spec);
  return out.finish();
}

}  // namespace rc::text::chat
