#include "text/grammar/regex_escapes.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/quote.h"
#include "base/utf8.h"
#include "text/hex_digit.h"

namespace rc::text::grammar {
namespace {

CharSet one(char32_t c) { return CharSet::of(c, c); }

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

}  // namespace

void PatternReader::refuse(rc_status status, const std::string& what) const {
  fail(status, "regular expression ", quote(pattern_), ", byte ", at_, ": ",
       what);
}

bool PatternReader::take(std::string_view text) {
  if (!pattern_.substr(at_).starts_with(text)) return false;
  at_ += text.size();
  return true;
}

char32_t PatternReader::character() {
  const Utf8Char c = decode_utf8(pattern_.substr(at_));
  if (c.state != Utf8::kValid) malformed("this is not UTF-8");
  at_ += c.size;
  return c.code_point;
}

std::optional<char32_t> PatternReader::hex(size_t digits) {
  if (pattern_.size() - at_ < digits) return std::nullopt;
  char32_t value = 0;
  for (size_t i = 0; i < digits; ++i) {
    const int digit = hex_digit(pattern_[at_ + i]);
    if (digit < 0) return std::nullopt;
    value = value * 16 + static_cast<char32_t>(digit);
  }
  at_ += digits;
  return value;
}

// After \u. A pair of surrogates is one character.
char32_t PatternReader::unicode_escape() {
  if (take("{")) {
    char32_t value = 0;
    size_t digits = 0;
    while (!done() && hex_digit(peek()) >= 0 && value <= kMaxCodePoint) {
      value = value * 16 + static_cast<char32_t>(hex_digit(peek()));
      ++at_;
      ++digits;
    }
    if (digits == 0 || value > kMaxCodePoint || !take("}")) {
      malformed("\\u{...} needs hexadecimal digits up to 10FFFF");
    }
    return value;
  }
  const std::optional<char32_t> high = hex(4);
  if (!high) malformed("\\u needs four hexadecimal digits");
  if (*high < 0xD800 || *high > 0xDBFF) return *high;
  const size_t back = at_;
  if (take("\\u")) {
    const std::optional<char32_t> low = hex(4);
    if (low && *low >= 0xDC00 && *low <= 0xDFFF) {
      return 0x10000 + ((*high - 0xD800) << 10) + (*low - 0xDC00);
    }
  }
  at_ = back;
  unsupported("a surrogate by itself");
}

CharSet PatternReader::property(bool negated) {
  if (!take("{")) malformed("\\p needs a property in braces");
  const size_t end = pattern_.find('}', at_);
  if (end == std::string_view::npos) malformed("\\p{ is not closed");
  std::string_view name = pattern_.substr(at_, end - at_);
  for (const std::string_view prefix : {"General_Category=", "gc="}) {
    if (name.starts_with(prefix)) name.remove_prefix(prefix.size());
  }
  CharSet set;
  if (!find_category(name, &set)) {
    unsupported("the property ", quote(name),
                "; only general categories are supported");
  }
  at_ = end + 1;
  return negated ? ~set : set;
}

CharSet PatternReader::escape(bool in_class) {
  if (done()) malformed("nothing follows the backslash");
  const char c = peek();
  if (static_cast<unsigned char>(c) >= 0x80) return one(character());
  ++at_;
  switch (c) {
    case 'd':
      return CharSet::of('0', '9');
    case 'D':
      return ~CharSet::of('0', '9');
    case 'w':
      return word_characters();
    case 'W':
      return ~word_characters();
    case 's':
      return white_space();
    case 'S':
      return ~white_space();
    case 'p':
      return property(false);
    case 'P':
      return property(true);
    case 't':
      return one('\t');
    case 'n':
      return one('\n');
    case 'v':
      return one('\v');
    case 'f':
      return one('\f');
    case 'r':
      return one('\r');
    case '0':
      if (peek() >= '0' && peek() <= '9') unsupported("an octal escape");
      return one(0);
    case 'c':
      if (!is_letter(peek())) malformed("\\c needs a letter");
      return one(static_cast<char32_t>(pattern_[at_++] % 32));
    case 'x': {
      const std::optional<char32_t> value = hex(2);
      if (!value) malformed("\\x needs two hexadecimal digits");
      return one(*value);
    }
    case 'u':
      return one(unicode_escape());
    case 'b':
      if (in_class) return one('\b');
      unsupported("the word boundary \\b");
    case 'B':
      if (!in_class) unsupported("the word boundary \\B");
      break;
    default:
      break;
  }
  if (c >= '1' && c <= '9') unsupported("a backreference");
  if (is_letter(c)) malformed("\\", c, " means nothing");
  return one(static_cast<unsigned char>(c));
}

CharSet PatternReader::character_class() {
  const bool negated = take("^");
  // Joined when there are twice as many as joining would leave: one after the
  // other would take quadratic time.
  std::vector<CharSet::Range> ranges;
  size_t most = 64;
  const auto add = [&](const CharSet& set) {
    ranges.insert(ranges.end(), set.ranges().begin(), set.ranges().end());
    if (ranges.size() <= most) return;
    ranges = CharSet::of(std::move(ranges)).ranges();
    most = std::max(most, 2 * ranges.size());
  };
  while (!take("]")) {
    if (done()) malformed("a class is not closed");
    const CharSet low = take("\\") ? escape(true) : one(character());
    const size_t back = at_;
    if (take("-") && !done() && peek() != ']') {
      const CharSet high = take("\\") ? escape(true) : one(character());
      const auto single = [](const CharSet& s) {
        return s.ranges().size() == 1 &&
               s.ranges()[0].low == s.ranges()[0].high;
      };
      if (single(low) && single(high)) {
        const char32_t first = low.ranges()[0].low;
        const char32_t last = high.ranges()[0].low;
        if (first > last) malformed("a range of characters runs backwards");
        add(CharSet::of(first, last));
      } else {
        // As in browsers: the hyphen next to a class is one.
        for (const CharSet& set : {low, one('-'), high}) add(set);
      }
      continue;
    }
    at_ = back;
    add(low);
  }
  const CharSet set = CharSet::of(std::move(ranges));
  return negated ? ~set : set;
}

}  // namespace rc::text::grammar
