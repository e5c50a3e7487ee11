// Filters for HTML and addresses.
#include <algorithm>

#include "text/chat/filters.h"
#include "text/chat/interpreter.h"
#include "text/chat/print.h"
#include "text/chat/string_operations.h"
#include "text/chat/unicode.h"

namespace rc::text::chat {
namespace {

// The text without what is between < and >, comments at once.
Text without_tags(const Text& text) {
  const std::string& bytes = text.bytes();
  Text out;
  size_t at = 0;
  for (size_t open; (open = bytes.find('<', at)) != std::string::npos;) {
    const bool comment = bytes.compare(open, 4, "<!--") == 0;
    const std::string_view closing = comment ? "-->" : ">";
    const size_t end = bytes.find(closing, open + (comment ? 4 : 1));
    if (end == std::string::npos) break;
    out.append(text, at, open);
    at = end + closing.size();
  }
  out.append(text, at, text.size());
  return out;
}

// The character of an entity such as "&amp;", and the entity's size; nothing if
// the text doesn't begin with one of those that filters of templates write.
std::pair<std::string, size_t> entity(std::string_view text) {
  static constexpr std::pair<std::string_view, std::string_view> kEntities[] = {
      {"&amp;", "&"},  {"&lt;", "<"},  {"&gt;", ">"},   {"&quot;", "\""},
      {"&#34;", "\""}, {"&#39;", "'"}, {"&apos;", "'"}, {"&nbsp;", "\u00A0"}};
  for (const auto& [name, meaning] : kEntities) {
    if (text.starts_with(name)) return {std::string(meaning), name.size()};
  }
  return {"", 0};
}

void append_quoted_byte(char c, std::string_view safe, std::string* out) {
  static constexpr char kHex[] = "0123456789ABCDEF";
  const bool plain =
      (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
      (c >= '0' && c <= '9') ||
      std::string_view("_.-~").find(c) != std::string_view::npos ||
      safe.find(c) != std::string_view::npos;
  if (plain) {
    *out += c;
    return;
  }
  *out += '%';
  *out += kHex[static_cast<uint8_t>(c) >> 4];
  *out += kHex[static_cast<uint8_t>(c) & 15];
}

void write_quoted(Writer* out, const Value& value, bool in_query) {
  const Value string = to_string(out->budget(), value);
  const Text& text = string.text();
  OriginCursor origins(text);
  std::string quoted;
  for (size_t i = 0; i < text.size(); ++i) {
    quoted.clear();
    const char c = text.bytes()[i];
    if (in_query && c == ' ') {
      quoted = "+";
    } else {
      append_quoted_byte(c, in_query ? "" : "/", &quoted);
    }
    out->append(quoted, origins.at(i));
  }
}

}  // namespace

Value filter_striptags(Call& call) {
  Budget* budget = call.budget();
  const Value string = to_string(budget, call.self());
  budget->step_bytes(string.text().size());
  const Value bare = make_string(budget, without_tags(string.text()));
  Writer out(budget);
  bool first = true;
  for (const Value& word : split(budget, bare, nullptr, -1, Side::kLeft)) {
    if (!first) out.append(" ", Origin::kTemplate);
    first = false;
    const Text& text = word.text();
    OriginCursor origins(text);
    for (size_t at = 0; at < text.size();) {
      const auto [meaning, size] =
          entity(std::string_view(text.bytes()).substr(at));
      if (size > 0) {
        out.append(meaning, origins.at(at));
        at += size;
      } else {
        out.append(text, at, at + 1);
        ++at;
      }
    }
  }
  return out.finish();
}

Value filter_urlencode(Call& call) {
  const Value& self = call.self();
  Writer out(call.budget());
  if (self.is_string() || !is_iterable(self)) {
    write_quoted(&out, self, false);
    return out.finish();
  }
  Value pairs = self;
  if (self.is(Kind::kDict)) {
    pairs =
        Value(Kind::kDictView,
              make<DictView>(call.budget(), Ref<Dict>::share(&self.as<Dict>()),
                             DictView::What::kItems));
  }
  bool first = true;
  for (const Value& pair : elements(call.budget(), pairs)) {
    const std::vector<Value> parts = elements(call.budget(), pair);
    if (parts.size() != 2) fault("'urlencode' takes pairs of names and values");
    if (!first) out.append("&", Origin::kTemplate);
    first = false;
    write_quoted(&out, parts[0], true);
    out.append("=", Origin::kTemplate);
    write_quoted(&out, parts[1], true);
  }
  return out.finish();
}

Value filter_xmlattr(Call& call) {
  if (!call.self().is(Kind::kDict)) {
    fault("'xmlattr' is for dicts, not for ", type_with_article(call.self()));
  }
  Budget* budget = call.budget();
  Writer out(budget);
  bool first = !call.truth(0, true);
  for (const auto& [key, value] : call.self().as_dict().entries()) {
    if (value.is(Kind::kNone) || value.is_undefined()) continue;
    if (!key.is_string()) fault("names of attributes must be strings");
    const std::string& name = key.text().bytes();
    if (name.find_first_of(" \t\n\r\f\v/>=") != std::string::npos) {
      fault("a name of an attribute has a character that is not for it");
    }
    if (!first) out.append(" ", Origin::kTemplate);
    first = false;
    out.append(escape_html(budget, key).text());
    out.append("=\"", Origin::kTemplate);
    out.append(escape_html(budget, value).text());
    out.append("\"", Origin::kTemplate);
  }
  return out.finish();
}

}  // namespace rc::text::chat
