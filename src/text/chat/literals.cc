#include "text/chat/literals.h"

#include <array>
#include <charconv>

#include "base/utf8.h"
#include "text/chat/fault.h"
#include "text/chat/numbers.h"

namespace rc::text::chat {
namespace {

bool is_decimal(char c) { return c >= '0' && c <= '9'; }

bool is_hex(char c) {
  return is_decimal(c) || ((c | 0x20) >= 'a' && (c | 0x20) <= 'f');
}

// The end of digits with single underscores between them, from `at` on; `at`
// itself if there is none.
template <class IsDigit>
size_t skip_digits(std::string_view text, size_t at, IsDigit is_digit) {
  size_t end = at;
  while (at < text.size()) {
    if (is_digit(text[at])) {
      end = ++at;
    } else if (text[at] == '_' && end == at && end > 0 &&
               at + 1 < text.size() && is_digit(text[at + 1])) {
      ++at;
    } else {
      break;
    }
  }
  return end;
}

// The bytes of a float at the begin of the text; 0 if there is none.
size_t float_size(std::string_view text) {
  size_t end = skip_digits(text, 0, is_decimal);
  bool is_float = false;
  if (end + 1 < text.size() && text[end] == '.' && is_decimal(text[end + 1])) {
    end = skip_digits(text, end + 1, is_decimal);
    is_float = true;
  }
  if (end < text.size() && (text[end] | 0x20) == 'e') {
    size_t digits = end + 1;
    if (digits < text.size() && (text[digits] == '+' || text[digits] == '-')) {
      ++digits;
    }
    if (digits < text.size() && is_decimal(text[digits])) {
      end = skip_digits(text, digits, is_decimal);
      is_float = true;
    }
  }
  return is_float ? end : 0;
}

// Of an integer: 0b, 0o, 0x, digits without a leading zero, or zeros.
size_t int_size(std::string_view text) {
  if (text[0] == '0' && text.size() > 2) {
    const char letter = static_cast<char>(text[1] | 0x20);
    const auto prefixed = [&](auto is_digit) -> size_t {
      const size_t from = text[2] == '_' ? 3 : 2;
      const size_t end = skip_digits(text, from, is_digit);
      return end > from ? end : 0;
    };
    size_t end = 0;
    if (letter == 'b')
      end = prefixed([](char c) { return c == '0' || c == '1'; });
    if (letter == 'o')
      end = prefixed([](char c) { return c >= '0' && c <= '7'; });
    if (letter == 'x') end = prefixed(is_hex);
    if (end > 0) return end;
  }
  if (text[0] == '0') {
    return skip_digits(text, 0, [](char c) { return c == '0'; });
  }
  return skip_digits(text, 0, is_decimal);
}

class Unescaper {
 public:
  explicit Unescaper(std::string_view text) : text_(text) {}

  std::string run() {
    while (at_ < text_.size()) {
      if (text_[at_] != '\\') {
        out_ += text_[at_++];
      } else {
        ++at_;
        escape();
      }
    }
    return std::move(out_);
  }

 private:
  void escape() {
    static constexpr std::string_view kLetters = "abfnrtv\\'\"";
    static constexpr std::string_view kMeanings = "\a\b\f\n\r\t\v\\'\"";
    const char c = text_[at_];
    const size_t letter = kLetters.find(c);
    if (letter != std::string_view::npos) {
      out_ += kMeanings[letter];
      ++at_;
    } else if (c == '\n') {
      ++at_;  // a line that goes on
    } else if (c >= '0' && c <= '7') {
      octal();
    } else if (c == 'x' || c == 'u' || c == 'U') {
      hex(c == 'x' ? 2 : c == 'u' ? 4 : 8);
    } else if (c == 'N') {
      fault_of_limit(
          "characters by name (\\N{...}) are not known here: write "
          "the character itself");
    } else if ((c & 0x80) != 0) {
      spelled_out();
    } else {
      out_ += '\\';  // no escape at all
    }
  }

  void octal() {
    char32_t value = 0;
    for (int i = 0;
         i < 3 && at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '7';
         ++i) {
      value = value * 8 + static_cast<char32_t>(text_[at_++] - '0');
    }
    append_utf8(value, &out_);
  }

  void hex(size_t digits) {
    const std::string_view number = text_.substr(at_ + 1, digits);
    uint32_t value = 0;
    const auto result = std::from_chars(
        number.data(), number.data() + number.size(), value, 16);
    if (number.size() < digits || result.ptr != number.data() + number.size()) {
      fault("the escape \\", text_[at_], " needs ", digits,
            " hexadecimal digits after it");
    }
    if (value > 0x10FFFF || (value >= 0xD800 && value < 0xE000)) {
      fault("the escape \\", text_[at_], number, " is no character");
    }
    append_utf8(value, &out_);
    at_ += 1 + digits;
  }

  // Jinja reads strings through ASCII, where a character beyond it is itself an
  // escape: a backslash before it makes that visible.
  void spelled_out() {
    static constexpr char kHex[] = "0123456789abcdef";
    const Utf8Char c = decode_utf8(text_.substr(at_));
    at_ += c.size;
    const int digits = c.code_point < 0x100     ? 2
                       : c.code_point < 0x10000 ? 4
                                                : 8;
    out_ += '\\';
    out_ += digits == 2 ? 'x' : digits == 4 ? 'u' : 'U';
    for (int shift = digits * 4 - 4; shift >= 0; shift -= 4) {
      out_ += kHex[c.code_point >> shift & 15];
    }
  }

  std::string_view text_;
  size_t at_ = 0;
  std::string out_;
};

}  // namespace

NumberLiteral read_number(std::string_view text, bool after_dot) {
  NumberLiteral literal;
  const size_t size = after_dot ? 0 : float_size(text);
  if (size > 0) {
    literal.size = size;
    literal.is_float = true;
    literal.real = parse_float(text.substr(0, size)).value_or(0);
    return literal;
  }
  literal.size = int_size(text);
  literal.integer = parse_int(text.substr(0, literal.size), 0).value_or(0);
  return literal;
}

size_t string_size(std::string_view text) {
  size_t end = 1;
  while (end < text.size() && text[end] != text[0]) {
    end += text[end] == '\\' ? 2 : 1;
  }
  return end < text.size() ? end + 1 : 0;
}

std::string_view read_operator(std::string_view text) {
  // Those of two characters first.
  static constexpr std::array<std::string_view, 26> kOperators = {
      "//", "**", "==", "!=", ">=", "<=", "+", "-", "/", "*", "%", "~", "[",
      "]",  "(",  ")",  "{",  "}",  ">",  "<", "=", ".", ":", "|", ",", ";"};
  for (const std::string_view one : kOperators) {
    if (text.starts_with(one)) return one;
  }
  return {};
}

std::string unescape(std::string_view quoted) {
  return Unescaper(quoted).run();
}

std::string normalize_newlines(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\r') {
      out += '\n';
      if (i + 1 < text.size() && text[i + 1] == '\n') ++i;
    } else {
      out += text[i];
    }
  }
  return out;
}

}  // namespace rc::text::chat
