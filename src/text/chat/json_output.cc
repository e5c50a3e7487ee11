#include "text/chat/json_output.h"

#include <cmath>

#include "text/chat/numbers.h"
#include "text/chat/objects.h"
#include "text/chat/operators.h"
#include "text/chat/unicode.h"

namespace rc::text::chat {
namespace {

void append_escape(uint32_t unit, std::string* out) {
  static constexpr char kHex[] = "0123456789abcdef";
  *out += "\\u";
  for (int shift = 12; shift >= 0; shift -= 4) *out += kHex[unit >> shift & 15];
}

void append_json_character(char32_t c, bool ensure_ascii, std::string* out) {
  static constexpr std::string_view kEscaped = "\"\\\n\r\t\b\f";
  static constexpr std::string_view kLetters = "\"\\nrtbf";
  const size_t escape =
      c < 0x80 ? kEscaped.find(static_cast<char>(c)) : std::string_view::npos;
  if (escape != std::string_view::npos) {
    *out += '\\';
    *out += kLetters[escape];
  } else if (c < 0x20 || (c > 0x7E && ensure_ascii && c < 0x10000)) {
    append_escape(c, out);
  } else if (ensure_ascii && c >= 0x10000) {
    append_escape(0xD800 + ((c - 0x10000) >> 10), out);
    append_escape(0xDC00 + ((c - 0x10000) & 0x3FF), out);
  } else {
    append_utf8(c, out);
  }
}

std::string json_number(const Value& value) {
  if (const std::string* digits = value.digits()) return *digits;
  switch (value.kind()) {
    case Kind::kNone:
      return "null";
    case Kind::kBool:
      return value.as_bool() ? "true" : "false";
    case Kind::kInt:
      return std::to_string(value.as_int());
    default:
      break;
  }
  const double number = value.as_real();
  if (std::isnan(number)) return "NaN";
  if (std::isinf(number)) return number < 0 ? "-Infinity" : "Infinity";
  return float_text(number);
}

class JsonWriter {
 public:
  JsonWriter(Budget* budget, const JsonStyle& style)
      : style_(style),
        item_separator_(style.item_separator.value_or(
            Text(style.indent ? "," : ", ", Origin::kTemplate))),
        key_separator_(
            style.key_separator.value_or(Text(": ", Origin::kTemplate))),
        out_(budget) {}

  Value run(const Value& value) {
    write(value);
    return out_.finish();
  }

 private:
  void put(std::string_view bytes) { out_.append(bytes, Origin::kTemplate); }

  void write(const Value& value) {
    out_.budget()->step();
    switch (value.kind()) {
      case Kind::kNone:
      case Kind::kBool:
      case Kind::kInt:
      case Kind::kFloat:
        out_.append(json_number(value), value.origin());
        return;
      case Kind::kString:
        string(value.text());
        return;
      case Kind::kList:
      case Kind::kTuple:
        list(value.as_sequence().items());
        return;
      case Kind::kDict:
        dict(value.as_dict());
        return;
      default:
        if (value.is_undefined() && value.object() != nullptr) {
          fault_undefined(value);
        }
        fault(type_with_article(value),
              " can't be written as JSON: make a list or a dict of it");
    }
  }

  void string(const Text& text) {
    put("\"");
    OriginCursor origins(text);
    std::string run;  // of one origin
    Origin origin = Origin::kTemplate;
    for (const Character& c : characters(text.bytes())) {
      const Origin own = origins.at(c.begin);
      if (own != origin) {
        out_.append(run, origin);
        run.clear();
        origin = own;
      }
      append_json_character(c.code_point, style_.ensure_ascii, &run);
    }
    out_.append(run, origin);
    put("\"");
  }

  void key(const Value& key) {
    if (key.is_string()) return string(key.text());
    if (!key.is_number() && !key.is(Kind::kNone)) {
      fault("keys in JSON must be strings or numbers, not ",
            type_with_article(key));
    }
    put("\"");
    out_.append(json_number(key), key.origin());
    put("\"");
  }

  void new_line() {
    if (!style_.indent) return;
    put("\n");
    out_.repeat(*style_.indent, level_);
  }

  void list(const std::vector<Value>& items) {
    if (items.empty()) return put("[]");
    put("[");
    ++level_;
    for (size_t i = 0; i < items.size(); ++i) {
      if (i > 0) out_.append(item_separator_);
      new_line();
      write(items[i]);
    }
    --level_;
    new_line();
    put("]");
  }

  void dict(const Dict& dict) {
    if (dict.size() == 0) return put("{}");
    put("{");
    ++level_;
    bool first = true;
    const auto entry = [&](const Value& name, const Value& value) {
      if (!first) out_.append(item_separator_);
      first = false;
      new_line();
      key(name);
      out_.append(key_separator_);
      write(value);
    };
    if (style_.sort_keys) {
      std::vector<std::pair<Value, Value>> sorted(dict.entries());
      sort_values(out_.budget(), &sorted, false);
      for (const auto& [name, value] : sorted) entry(name, value);
    } else {
      for (const auto& [name, value] : dict.entries()) entry(name, value);
    }
    --level_;
    new_line();
    put("}");
  }

  const JsonStyle& style_;
  const Text item_separator_;
  const Text key_separator_;
  Writer out_;
  size_t level_ = 0;
};

}  // namespace

Value to_json(Budget* budget, const Value& value, const JsonStyle& style) {
  return JsonWriter(budget, style).run(value);
}

}  // namespace rc::text::chat
