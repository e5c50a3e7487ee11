#include "text/chat/print.h"

#include "text/chat/numbers.h"
#include "text/chat/objects.h"
#include "text/chat/unicode.h"

namespace rc::text::chat {
namespace {

// The text of a number, none or a truth value.
std::string simple_text(const Value& value) {
  if (const std::string* digits = value.digits()) return *digits;
  switch (value.kind()) {
    case Kind::kNone:
      return "None";
    case Kind::kBool:
      return value.as_bool() ? "True" : "False";
    case Kind::kInt:
      return std::to_string(value.as_int());
    default:
      return float_text(value.as_real());
  }
}

void append_hex(char prefix, char32_t c, int digits, std::string* out) {
  static constexpr char kHex[] = "0123456789abcdef";
  *out += '\\';
  *out += prefix;
  for (int shift = digits * 4 - 4; shift >= 0; shift -= 4) {
    *out += kHex[c >> shift & 15];
  }
}

// A character between quotes, escaped if it can't be printed.
void append_quoted(char32_t c, char quote, std::string* out) {
  if (c == '\\' || c == static_cast<char32_t>(quote)) {
    *out += '\\';
    *out += static_cast<char>(c);
  } else if (c == '\n') {
    *out += "\\n";
  } else if (c == '\r') {
    *out += "\\r";
  } else if (c == '\t') {
    *out += "\\t";
  } else if (is_printable(c)) {
    append_utf8(c, out);
  } else if (c < 0x100) {
    append_hex('x', c, 2, out);
  } else if (c < 0x10000) {
    append_hex('u', c, 4, out);
  } else {
    append_hex('U', c, 8, out);
  }
}

class Printer {
 public:
  explicit Printer(Writer* out) : out_(out) {}

  void print(const Value& value) {
    out_->budget()->step();
    out_->budget()->check_depth(++depth_, "values");
    switch (value.kind()) {
      case Kind::kUndefined:
        put("Undefined");
        break;
      case Kind::kNone:
      case Kind::kBool:
      case Kind::kInt:
      case Kind::kFloat:
        out_->append(simple_text(value), value.origin());
        break;
      case Kind::kString:
        string(value);
        break;
      case Kind::kList:
      case Kind::kTuple:
        sequence(value);
        break;
      case Kind::kDict:
        put("{");
        entries(value.as_dict().entries());
        put("}");
        break;
      case Kind::kDictView:
        view(value.as<DictView>());
        break;
      case Kind::kRange:
        range(value.as<Range>());
        break;
      case Kind::kNamespace:
        put("<Namespace {");
        entries(value.as<Namespace>().entries());
        put("}>");
        break;
      case Kind::kLoop:
        loop(value.as<Loop>());
        break;
      case Kind::kFunction:
        put(value.as<Function>().text());
        break;
      default:
        put(cat("<", type_name(value), ">"));
    }
    --depth_;
  }

 private:
  void put(std::string_view bytes) { out_->append(bytes, Origin::kTemplate); }

  void string(const Value& value) {
    const Text& text = value.text();
    const bool single = text.bytes().find('\'') == std::string::npos ||
                        text.bytes().find('"') != std::string::npos;
    const char quote = single ? '\'' : '"';
    if (value.is_markup()) put("Markup(");
    put(std::string_view(&quote, 1));
    OriginCursor origins(text);
    std::string mapped;
    for (const Character& c : characters(text.bytes())) {
      mapped.clear();
      append_quoted(c.code_point, quote, &mapped);
      out_->append(mapped, origins.at(c.begin));
    }
    put(std::string_view(&quote, 1));
    if (value.is_markup()) put(")");
  }

  void sequence(const Value& value) {
    const std::vector<Value>& items = value.as_sequence().items();
    const bool is_list = value.is(Kind::kList);
    put(is_list ? "[" : "(");
    for (size_t i = 0; i < items.size(); ++i) {
      if (i > 0) put(", ");
      print(items[i]);
    }
    if (!is_list && items.size() == 1) put(",");
    put(is_list ? "]" : ")");
  }

  void entries(const std::vector<Dict::Entry>& all) {
    for (size_t i = 0; i < all.size(); ++i) {
      if (i > 0) put(", ");
      print(all[i].first);
      put(": ");
      print(all[i].second);
    }
  }

  void view(const DictView& view) {
    const bool keys = view.what() == DictView::What::kKeys;
    const bool items = view.what() == DictView::What::kItems;
    put(keys ? "dict_keys([" : items ? "dict_items([" : "dict_values([");
    for (size_t i = 0; i < view.dict().size(); ++i) {
      const auto& [key, value] = view.dict().entries()[i];
      if (i > 0) put(", ");
      if (items) {
        put("(");
        print(key);
        put(", ");
        print(value);
        put(")");
      } else {
        print(keys ? key : value);
      }
    }
    put("])");
  }

  void range(const Range& range) {
    put(cat("range(", range.start(), ", ", range.stop()));
    if (range.step() != 1) put(cat(", ", range.step()));
    put(")");
  }

  void loop(Loop& loop) {
    put(cat("<LoopContext ", loop.index0() + 1, "/", loop.length(), ">"));
  }

  Writer* out_;
  size_t depth_ = 0;
};

}  // namespace

void write_str(Writer* out, const Value& value) {
  if (value.is_string()) {
    out->append(value.text());
  } else if (!value.is_undefined()) {
    write_repr(out, value);
  }
}

void write_repr(Writer* out, const Value& value) { Printer(out).print(value); }

Value to_string(Budget* budget, const Value& value) {
  if (value.is_string()) return value;
  Writer out(budget);
  write_str(&out, value);
  return out.finish();
}

Value escape_html(Budget* budget, const Value& value) {
  if (value.is_markup()) return value;
  const Value string = to_string(budget, value);
  const Text& text = string.text();
  if (text.bytes().find_first_of("&<>'\"") == std::string::npos) {
    return string.with_markup(true);
  }
  Writer out(budget);
  OriginCursor origins(text);
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text.bytes()[i];
    const std::string_view escaped = c == '&'    ? "&amp;"
                                     : c == '<'  ? "&lt;"
                                     : c == '>'  ? "&gt;"
                                     : c == '\'' ? "&#39;"
                                     : c == '"'  ? "&#34;"
                                                 : std::string_view(&c, 1);
    out.append(escaped, origins.at(i));
  }
  return out.finish(true);
}

}  // namespace rc::text::chat
