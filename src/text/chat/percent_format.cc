#include "text/chat/percent_format.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "base/quote.h"
#include "text/chat/number_format.h"
#include "text/chat/numbers.h"
#include "text/chat/objects.h"
#include "text/chat/print.h"
#include "text/chat/unicode.h"

namespace rc::text::chat {
namespace {

class PercentFormatter {
 public:
  PercentFormatter(Budget* budget, const Value& format, const Value& arguments)
      : format_(format),
        text_(format.text()),
        arguments_(arguments),
        out_(budget) {}

  Value run() {
    const std::string& bytes = text_.bytes();
    while (at_ < bytes.size()) {
      const size_t percent = std::min(bytes.find('%', at_), bytes.size());
      out_.append(text_, at_, percent);
      at_ = percent;
      if (at_ < bytes.size()) conversion();
    }
    const bool is_rest = arguments_.is(Kind::kTuple)
                             ? used_ < arguments_.as_sequence().size()
                             : used_ == 0 && !is_mapping(arguments_);
    if (is_rest) fault("the format uses not all of its arguments");
    return out_.finish(format_.is_markup());
  }

 private:
  // Whether Python takes a value for a mapping here, of which nothing need be
  // used.
  static bool is_mapping(const Value& value) {
    return value.is(Kind::kDict) || value.is(Kind::kList) ||
           value.is(Kind::kRange) || value.is_undefined();
  }

  const Value& next_argument() {
    if (!arguments_.is(Kind::kTuple)) {
      if (used_++ > 0) fault("the format needs more arguments");
      return arguments_;
    }
    if (used_ == arguments_.as_sequence().size()) {
      fault("the format needs more arguments");
    }
    return arguments_.as_sequence().items()[used_++];
  }

  char peek() const {
    if (at_ == text_.size()) fault("the format ends within a '%'");
    return text_.bytes()[at_];
  }

  const Value* key() {
    if (peek() != '(') return nullptr;
    size_t open = 1;
    const size_t begin = ++at_;
    for (; open > 0; ++at_) {
      if (peek() == '(') ++open;
      if (peek() == ')') --open;
    }
    const std::string name = text_.bytes().substr(begin, at_ - 1 - begin);
    if (!arguments_.is(Kind::kDict)) {
      fault("the format asks for ", quote(name), " of a dict, and gets ",
            type_with_article(arguments_));
    }
    const Value* value = arguments_.as_dict().find(name);
    if (value == nullptr) {
      fault("the dict to format does not contain ", quote(name));
    }
    return value;
  }

  int64_t number_or_star() {
    if (peek() != '*') return parse_width(text_.bytes(), &at_);
    ++at_;
    const Value& width = next_argument();
    if (!width.is_int() || std::abs(width.as_int()) > INT32_MAX) {
      fault("a '*' of a format takes a whole number");
    }
    return width.as_int();
  }

  void flags(FormatSpec* spec) {
    for (;; ++at_) {
      switch (peek()) {
        case '-':
          spec->align = '<';
          break;
        case '+':
          spec->sign = '+';
          break;
        case ' ':
          if (spec->sign != '+') spec->sign = ' ';
          break;
        case '#':
          spec->alternate = true;
          break;
        case '0':
          spec->is_zero_filled = true;
          break;
        default:
          return;
      }
    }
  }

  void conversion() {
    ++at_;
    const Value* named = key();
    FormatSpec spec;
    flags(&spec);
    spec.width = number_or_star();
    if (spec.width < 0) {
      spec.align = '<';
      spec.width = -spec.width;
    }
    if (peek() == '.') {
      ++at_;
      spec.precision = static_cast<int>(std::max<int64_t>(number_or_star(), 0));
    }
    while (peek() == 'h' || peek() == 'l' || peek() == 'L') ++at_;
    spec.type = peek();
    ++at_;
    if (spec.type == '%') {
      out_.append("%", Origin::kTemplate);
      return;
    }
    const Value& value = named != nullptr ? *named : next_argument();
    write(value, spec);
  }

  void write(const Value& value, FormatSpec spec) {
    switch (spec.type) {
      case 's':
      case 'r':
      case 'a':
        return write_text(value, spec);
      case 'c':
        return write_character(value, spec);
      case 'd':
      case 'i':
      case 'u':
      case 'o':
      case 'x':
      case 'X':
        return write_int(value, spec);
      case 'e':
      case 'E':
      case 'f':
      case 'F':
      case 'g':
      case 'G':
        return write_float(value, spec);
      default:
        fault("the format has an unknown conversion '%", spec.type, "'");
    }
  }

  void pad_right(FormatSpec* spec) {
    if (spec->align == 0) spec->align = '>';
  }

  void write_text(const Value& value, FormatSpec spec) {
    Budget* budget = out_.budget();
    pad_right(&spec);
    Value text;
    if (spec.type == 's') {
      text = to_string(budget, value);
    } else {
      Writer repr(budget);
      write_repr(&repr, value);
      text = repr.finish();
    }
    if (format_.is_markup()) text = escape_html(budget, text);
    write_padded(&out_, text.text(), spec);
  }

  void write_character(const Value& value, FormatSpec spec) {
    pad_right(&spec);
    if (value.is_string() && value.as_string().length() == 1) {
      write_padded(&out_, value.text(), spec);
      return;
    }
    const int64_t c = value.is_int() ? value.as_int() : -1;
    if (c < 0 || c > 0x10FFFF || (c >= 0xD800 && c < 0xE000)) {
      fault("'%c' takes a character or its number");
    }
    std::string bytes;
    append_utf8(static_cast<char32_t>(c), &bytes);
    write_padded(&out_, Text(bytes, value.origin()), spec);
  }

  void write_int(const Value& value, FormatSpec spec) {
    Value number = value;
    const bool is_decimal =
        spec.type == 'd' || spec.type == 'i' || spec.type == 'u';
    if (value.is(Kind::kFloat) && is_decimal) {
      const std::optional<int64_t> whole = truncate_to_int(value.as_real());
      if (!whole) fault("'%d' takes finite numbers");
      number = Value::integer(*whole).with_origin(value.origin());
    }
    if (value.is_undefined()) fault_undefined(value);
    if (!number.is_int()) {
      fault("'%", spec.type, "' takes a whole number, not ",
            type_with_article(value));
    }
    if (is_decimal) spec.type = 'd';
    spec.min_digits = std::min(std::max(spec.precision, 0), kMostDigits);
    spec.precision = -1;
    write_aligned(number, spec);
  }

  void write_float(const Value& value, FormatSpec spec) {
    if (value.is_undefined()) fault_undefined(value);
    if (!value.is_number()) {
      fault("'%", spec.type, "' takes a number, not ",
            type_with_article(value));
    }
    write_aligned(Value::real(value.as_real()).with_origin(value.origin()),
                  spec);
  }

  void write_aligned(const Value& number, FormatSpec spec) {
    // Texts are filled with spaces all the same.
    if (spec.is_zero_filled && spec.align == 0) spec.fill = '0';
    write_number(&out_, number, spec);
  }

  const Value& format_;
  const Text& text_;
  const Value& arguments_;
  Writer out_;
  size_t at_ = 0;
  size_t used_ = 0;
};

}  // namespace

Value percent_format(Budget* budget, const Value& format,
                     const Value& arguments) {
  return PercentFormatter(budget, format, arguments).run();
}

}  // namespace rc::text::chat
