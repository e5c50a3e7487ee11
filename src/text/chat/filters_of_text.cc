// Filters of texts.
#include <algorithm>

#include "text/chat/filters.h"
#include "text/chat/interpreter.h"
#include "text/chat/json_output.h"
#include "text/chat/operators.h"
#include "text/chat/percent_format.h"
#include "text/chat/print.h"
#include "text/chat/string_operations.h"
#include "text/chat/unicode.h"

namespace rc::text::chat {
namespace {

Value mapped(Call& call, Text (*map)(const Text&)) {
  const Value string = to_string(call.budget(), call.self());
  call.budget()->step_bytes(string.text().size());
  // Case mapping makes three characters of one at most.
  return make_string(call.budget(), map(string.text()), string.is_markup());
}

Text upper_text(const Text& text) { return to_case(Case::kUpper, text); }
Text lower_text(const Text& text) { return to_case(Case::kLower, text); }

// Jinja's own idea of a title: words begin after spaces, hyphens and brackets.
Text title_words(const Text& text) {
  Text out;
  size_t begin = 0;
  const auto flush = [&](size_t end) {
    if (begin == end) return;
    const size_t first =
        begin + decode_utf8(std::string_view(text.bytes()).substr(begin)).size;
    out.append(to_case(Case::kUpper, text.slice(begin, first)));
    out.append(to_case(Case::kLower, text.slice(first, end)));
    begin = end;
  };
  bool in_word = false;
  for (const Character& c : characters(text.bytes())) {
    const bool breaks =
        is_space(c.code_point) ||
        (c.code_point < 0x80 &&
         std::string_view("-({[<").find(static_cast<char>(c.code_point)) !=
             std::string_view::npos);
    if (breaks == in_word) flush(c.begin);
    in_word = !breaks;
  }
  flush(text.size());
  return out;
}

Text lit(std::string_view bytes) { return Text(bytes, Origin::kTemplate); }

// The string that an argument is, or what is given instead.
Text text_or(const Call& call, size_t i, std::string_view otherwise) {
  return call.is_none(i) ? lit(otherwise) : call.string(i).text();
}

Text spaces(const Call& call, int64_t count) {
  const int64_t most = 1 << 20;
  if (count > most) fault_of_limit("an indent of more than ", most, " spaces");
  call.budget()->step_bytes(static_cast<size_t>(std::max<int64_t>(count, 0)));
  return lit(
      std::string(static_cast<size_t>(std::max<int64_t>(count, 0)), ' '));
}

}  // namespace

Value filter_upper(Call& call) { return mapped(call, upper_text); }
Value filter_lower(Call& call) { return mapped(call, lower_text); }
Value filter_title(Call& call) {
  return mapped(call, title_words).with_markup(false);
}
Value filter_capitalize(Call& call) { return mapped(call, to_capitalized); }

Value filter_center(Call& call) {
  return pad(call.budget(), to_string(call.budget(), call.self()),
             call.integer(0, 80), lit(" "), Side::kBoth);
}

Value filter_escape(Call& call) {
  return escape_html(call.budget(), call.self());
}

Value filter_forceescape(Call& call) {
  return escape_html(call.budget(),
                     to_string(call.budget(), call.self()).with_markup(false));
}

Value filter_safe(Call& call) {
  return to_string(call.budget(), call.self()).with_markup(true);
}

Value filter_string(Call& call) {
  return to_string(call.budget(), call.self());
}

Value filter_format(Call& call) {
  Arguments& given = call.arguments();
  if (!given.positional.empty() && !given.named.empty()) {
    fault("'format' takes arguments by position or by name, not both");
  }
  Budget* budget = call.budget();
  Value arguments;
  if (given.named.empty()) {
    arguments = make_sequence(budget, Kind::kTuple, given.positional);
  } else {
    std::vector<Dict::Entry> entries;
    for (const auto& [name, value] : given.named) {
      entries.emplace_back(make_string(budget, name), value);
    }
    arguments = make_dict(budget, std::move(entries));
  }
  return percent_format(budget, to_string(budget, call.self()), arguments);
}

Value filter_indent(Call& call) {
  if (call.self().is_undefined()) fault_undefined(call.self());
  if (!call.self().is_string()) {
    fault("'indent' is for strings, not for ", type_with_article(call.self()));
  }
  Budget* budget = call.budget();
  const Text indent = call.has(0) && call[0].is_string()
                          ? call[0].text()
                          : spaces(call, call.integer(0, 4));
  const bool first = call.truth(1, false);
  const bool blank = call.truth(2, false);
  Writer with_end(budget);
  with_end.append(call.self().text());
  with_end.append("\n", Origin::kTemplate);
  const Value source = with_end.finish();
  const std::vector<Value> lines = split_lines(budget, source, false);
  Writer out(budget);
  if (first) out.append(indent);
  for (size_t i = 0; i < lines.size(); ++i) {
    if (i > 0) out.append("\n", Origin::kTemplate);
    if (i > 0 && (blank || !lines[i].text().empty())) out.append(indent);
    out.append(lines[i].text());
  }
  return out.finish(call.self().is_markup());
}

Value filter_replace(Call& call) {
  Budget* budget = call.budget();
  const Value old = to_string(budget, call[0]);
  const Value by = to_string(budget, call[1]);
  const int64_t most = call.is_none(2) ? -1 : call.integer(2, -1);
  return replace(budget, to_string(budget, call.self()).with_markup(false),
                 old.text(), by.text(), most);
}

Value filter_tojson(Call& call) {
  JsonStyle style;
  style.ensure_ascii = call.truth(0, false);
  style.sort_keys = call.truth(3, false);
  if (!call.is_none(1)) {
    style.indent =
        call[1].is_string() ? call[1].text() : spaces(call, call.integer(1, 0));
  }
  if (!call.is_none(2)) {
    const std::vector<Value> both = elements(call.budget(), call[2]);
    if (both.size() != 2 || !both[0].is_string() || !both[1].is_string()) {
      fault("'tojson' takes two strings as separators");
    }
    style.item_separator = both[0].text();
    style.key_separator = both[1].text();
  }
  return to_json(call.budget(), call.self(), style);
}

Value filter_trim(Call& call) {
  return strip(call.budget(), to_string(call.budget(), call.self()),
               Side::kBoth, call.is_none(0) ? nullptr : &call.string(0).text());
}

Value filter_truncate(Call& call) {
  Budget* budget = call.budget();
  const Text end = text_or(call, 2, "...");
  const int64_t length = call.integer(0, 255);
  const int64_t leeway = call.is_none(3) ? 5 : call.integer(3, 5);
  const auto end_length = static_cast<int64_t>(count_characters(end.bytes()));
  if (length < end_length) {
    fault("'truncate' needs a length of ", end_length,
          " at least, that of the end");
  }
  if (leeway < 0) fault("'truncate' needs a leeway of 0 at least");
  const std::optional<size_t> size = rc::text::chat::length(call.self());
  if (size && static_cast<int64_t>(*size) - leeway <= length) {
    return call.self();
  }
  if (!call.self().is_string()) {
    fault("'truncate' is for strings, not for ",
          type_with_article(call.self()));
  }
  const String& string = call.self().as_string();
  size_t cut = string.offset(static_cast<size_t>(length - end_length));
  if (!call.truth(1, false)) {
    const size_t space =
        std::string_view(string.text().bytes()).substr(0, cut).rfind(' ');
    if (space != std::string_view::npos) cut = space;
  }
  Writer out(budget);
  out.append(string.text(), 0, cut);
  out.append(end);
  return out.finish(call.self().is_markup());
}

Value filter_wordcount(Call& call) {
  const Value string = to_string(call.budget(), call.self());
  call.budget()->step_bytes(string.text().size());
  int64_t count = 0;
  bool in_word = false;
  for (const Character& c : characters(string.text().bytes())) {
    const bool word = is_word(c.code_point);
    if (word && !in_word) ++count;
    in_word = word;
  }
  return Value::integer(count);
}

}  // namespace rc::text::chat
