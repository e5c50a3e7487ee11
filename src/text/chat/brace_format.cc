#include "text/chat/brace_format.h"

#include <algorithm>
#include <optional>

#include "base/quote.h"
#include "text/chat/interpreter.h"
#include "text/chat/number_format.h"
#include "text/chat/print.h"

namespace rc::text::chat {
namespace {

// Fields within the format of a field within ...
constexpr int kDeepestField = 2;

class BraceFormatter {
 public:
  BraceFormatter(Interpreter* interpreter, const Value& format,
                 const Arguments& arguments)
      : interpreter_(interpreter), format_(format), arguments_(arguments) {}

  Value run() {
    Writer out(interpreter_->budget());
    write(format_.text(), 0, &out);
    return out.finish(format_.is_markup());
  }

 private:
  void write(const Text& text, int depth, Writer* out) {
    if (depth == kDeepestField) fault("fields of a format are nested too deep");
    const std::string& bytes = text.bytes();
    for (size_t at = 0; at < bytes.size();) {
      const size_t brace =
          std::min(bytes.find_first_of("{}", at), bytes.size());
      out->append(text, at, brace);
      at = brace;
      if (at == bytes.size()) break;
      if (at + 1 < bytes.size() && bytes[at + 1] == bytes[at]) {
        out->append(text, at, at + 1);
        at += 2;
        continue;
      }
      if (bytes[at] == '}') fault("the format has a single '}'");
      size_t end = ++at;
      for (size_t open = 1; end < bytes.size(); ++end) {
        if (bytes[end] == '{') ++open;
        if (bytes[end] == '}' && --open == 0) break;
      }
      if (end == bytes.size()) fault("the format has a '{' without a '}'");
      field(text.slice(at, end), depth, out);
      at = end + 1;
    }
  }

  void field(const Text& text, int depth, Writer* out) {
    const std::string& bytes = text.bytes();
    size_t name_end = 0;
    for (bool bracket = false; name_end < bytes.size(); ++name_end) {
      const char c = bytes[name_end];
      if (c == '[') bracket = true;
      if (c == ']') bracket = false;
      if (!bracket && (c == ':' || c == '!')) break;
    }
    Value value = lookup(bytes.substr(0, name_end));
    size_t at = name_end;
    if (at < bytes.size() && bytes[at] == '!') {
      const char conversion = at + 1 < bytes.size() ? bytes[at + 1] : 0;
      value = convert(value, conversion);
      at += 2;
      if (at < bytes.size() && bytes[at] != ':') {
        fault("expected ':' after the conversion of a format");
      }
    }
    Writer spec(interpreter_->budget());
    if (at < bytes.size()) {
      write(text.slice(at + 1, bytes.size()), depth + 1, &spec);
    }
    Budget* budget = interpreter_->budget();
    const bool is_safe = format_.is_markup() && value.is_markup();
    if (is_safe && spec.size() > 0) fault("safe strings take no format");
    Value formatted =
        is_safe ? value : format_value(budget, value, spec.text().bytes());
    if (format_.is_markup()) formatted = escape_html(budget, formatted);
    out->append(formatted.text());
  }

  Value convert(const Value& value, char conversion) {
    Budget* budget = interpreter_->budget();
    if (conversion == 's') return to_string(budget, value).with_markup(false);
    if (conversion != 'r' && conversion != 'a') {
      fault("the format has an unknown conversion");
    }
    Writer repr(budget);
    write_repr(&repr, value);
    return repr.finish();
  }

  Value first(std::string_view name) {
    if (name.empty()) {
      if (numbering_ == Numbering::kGiven) mixed();
      numbering_ = Numbering::kAutomatic;
      return positional(next_++);
    }
    const bool is_number = std::all_of(
        name.begin(), name.end(), [](char c) { return c >= '0' && c <= '9'; });
    if (is_number) {
      if (numbering_ == Numbering::kAutomatic) mixed();
      numbering_ = Numbering::kGiven;
      size_t at = 0;
      return positional(static_cast<size_t>(parse_width(name, &at)));
    }
    interpreter_->budget()->step(1 + arguments_.named.size() / 8);
    for (const auto& [key, value] : arguments_.named) {
      if (key == name) return value;
    }
    fault("the format asks for ", quote(name), ", which is not given");
  }

  [[noreturn]] static void mixed() {
    fault("the format has both numbered fields and '{}'");
  }

  const Value& positional(size_t i) const {
    if (i >= arguments_.positional.size()) {
      fault("the format asks for argument ", i, " of ",
            arguments_.positional.size());
    }
    return arguments_.positional[i];
  }

  Value lookup(std::string_view path) {
    size_t at = std::min(path.find_first_of(".["), path.size());
    Value value = first(path.substr(0, at));
    while (at < path.size()) {
      if (path[at] == '.') {
        const size_t end =
            std::min(path.find_first_of(".[", at + 1), path.size());
        value =
            interpreter_->attribute(value, path.substr(at + 1, end - at - 1));
        at = end;
        continue;
      }
      const size_t end = path.find(']', at);
      if (path[at] != '[' || end == std::string_view::npos || end == at + 1) {
        fault("the format has a malformed field");
      }
      value = interpreter_->item(value, key(path.substr(at + 1, end - at - 1)));
      at = end + 1;
    }
    return value;
  }

  Value key(std::string_view text) {
    size_t at = 0;
    const int64_t number = parse_width(text, &at);
    if (at == text.size()) return Value::integer(number);
    return make_string(interpreter_->budget(), text);
  }

  enum class Numbering { kNone, kAutomatic, kGiven };

  Interpreter* interpreter_;
  const Value& format_;
  const Arguments& arguments_;
  Numbering numbering_ = Numbering::kNone;
  size_t next_ = 0;
};

}  // namespace

Value brace_format(Interpreter* interpreter, const Value& format,
                   const Arguments& arguments) {
  return BraceFormatter(interpreter, format, arguments).run();
}

}  // namespace rc::text::chat
