#include "text/grammar/rule_reader.h"

#include <algorithm>

#include "base/utf8.h"
#include "text/grammar/char_set.h"
#include "text/hex_digit.h"

namespace rc::text::grammar {
namespace {

constexpr uint32_t kMaxNumber = 1'000'000;

}  // namespace

bool is_name_byte(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
         (c >= '0' && c <= '9') || c == '_';
}

void RuleReader::refuse(rc_status status, const std::string& what) const {
  const std::string_view before = text_.substr(0, at_);
  const auto line = 1 + std::count(before.begin(), before.end(), '\n');
  const size_t newline = before.rfind('\n');
  const size_t column =
      newline == std::string_view::npos ? at_ + 1 : at_ - newline;
  fail(status, "grammar, line ", line, ", column ", column, ": ", what);
}

bool RuleReader::take(std::string_view expected) {
  if (!text_.substr(at_).starts_with(expected)) return false;
  at_ += expected.size();
  return true;
}

char32_t RuleReader::character() {
  const Utf8Char c = decode_utf8(text_.substr(at_));
  if (c.state != Utf8::kValid) malformed("this is not UTF-8");
  at_ += c.size;
  return c.code_point;
}

char32_t RuleReader::hex(size_t digits) {
  uint32_t value = 0;
  for (size_t i = 0; i < digits; ++i) {
    const int digit = hex_digit(peek());
    if (digit < 0)
      malformed("this escape needs ", digits, " hexadecimal digits");
    value = value * 16 + static_cast<uint32_t>(digit);
    ++at_;
  }
  if (value > kMaxCodePoint || (value >= 0xD800 && value <= 0xDFFF)) {
    malformed("there is no character with this number");
  }
  return value;
}

char32_t RuleReader::escape() {
  if (done()) malformed("nothing follows the backslash");
  const char c = peek();
  if (static_cast<unsigned char>(c) >= 0x80) return character();
  ++at_;
  switch (c) {
    case 'n':
      return '\n';
    case 'r':
      return '\r';
    case 't':
      return '\t';
    case 'f':
      return '\f';
    case 'v':
      return '\v';
    case 'b':
      return '\b';
    case '0':
      return 0;
    case 'x':
      return hex(2);
    case 'U':
      return hex(8);
    case 'u': {
      if (!take("{")) return hex(4);
      size_t digits = 0;
      while (digits < 8 && hex_digit(peek(digits)) >= 0) ++digits;
      const char32_t value = hex(std::max(digits, size_t{1}));
      if (!take("}")) malformed("\\u{ is not closed");
      return value;
    }
    default:
      break;
  }
  if (is_name_byte(c) && c != '_') malformed("\\", c, " means nothing here");
  return static_cast<unsigned char>(c);
}

std::optional<uint32_t> RuleReader::number() {
  std::optional<uint32_t> value;
  while (peek() >= '0' && peek() <= '9') {
    value = value.value_or(0) * 10 + static_cast<uint32_t>(next() - '0');
    if (*value > kMaxNumber) unsupported("a number above ", kMaxNumber);
  }
  return value;
}

}  // namespace rc::text::grammar
