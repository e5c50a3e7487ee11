#include "text/chat/string_methods.h"

#include <algorithm>

#include "text/chat/brace_format.h"
#include "text/chat/interpreter.h"
#include "text/chat/print.h"
#include "text/chat/search.h"
#include "text/chat/string_operations.h"
#include "text/chat/unicode.h"

namespace rc::text::chat {
namespace {

Value remapped(Call& call, Text (*map)(const Text&)) {
  call.budget()->step_bytes(call.self().text().size());
  return make_string(call.budget(), map(call.self().text()),
                     call.self().is_markup());
}

template <Case to>
Text in_case(const Text& text) {
  return to_case(to, text);
}

Value string_capitalize(Call& call) { return remapped(call, to_capitalized); }
Value string_casefold(Call& call) {
  return remapped(call, in_case<Case::kFold>);
}
Value string_lower(Call& call) { return remapped(call, in_case<Case::kLower>); }
Value string_swapcase(Call& call) {
  return remapped(call, in_case<Case::kSwap>);
}
Value string_title(Call& call) { return remapped(call, to_title); }
Value string_upper(Call& call) { return remapped(call, in_case<Case::kUpper>); }

Value padded(Call& call, Side side) {
  const Text fill =
      call.has(1) ? call.string(1).text() : Text(" ", Origin::kTemplate);
  return pad(call.budget(), call.self(), call.integer(0, 0), fill, side);
}
Value string_center(Call& call) { return padded(call, Side::kBoth); }
Value string_ljust(Call& call) { return padded(call, Side::kRight); }
Value string_rjust(Call& call) { return padded(call, Side::kLeft); }

Value string_zfill(Call& call) {
  const Text& text = call.self().text();
  const size_t sign =
      !text.empty() && (text.bytes()[0] == '-' || text.bytes()[0] == '+') ? 1
                                                                          : 0;
  const Value digits =
      make_string(call.budget(), text.slice(sign, text.size()));
  const int64_t width = call.integer(0, 0);
  const Value filled =
      pad(call.budget(), digits,
          width > INT64_MIN ? width - static_cast<int64_t>(sign) : width,
          Text("0", Origin::kTemplate), Side::kLeft);
  Writer out(call.budget());
  out.append(text, 0, sign);
  out.append(filled.text());
  return out.finish(call.self().is_markup());
}

Value stripped(Call& call, Side side) {
  return strip(call.budget(), call.self(), side,
               call.is_none(0) ? nullptr : &call.string(0).text());
}
Value string_strip(Call& call) { return stripped(call, Side::kBoth); }
Value string_lstrip(Call& call) { return stripped(call, Side::kLeft); }
Value string_rstrip(Call& call) { return stripped(call, Side::kRight); }

Value string_removeprefix(Call& call) {
  const Text& text = call.self().text();
  const std::string& what = call.string(0).text().bytes();
  if (!text.bytes().starts_with(what)) return call.self();
  return make_string(call.budget(), text.slice(what.size(), text.size()),
                     call.self().is_markup());
}

Value string_removesuffix(Call& call) {
  const Text& text = call.self().text();
  const std::string& what = call.string(0).text().bytes();
  if (!text.bytes().ends_with(what)) return call.self();
  return make_string(call.budget(), text.slice(0, text.size() - what.size()),
                     call.self().is_markup());
}

Value split_string(Call& call, Side side) {
  const Text* separator = call.is_none(0) ? nullptr : &call.string(0).text();
  return make_sequence(
      call.budget(), Kind::kList,
      split(call.budget(), call.self(), separator, call.integer(1, -1), side));
}
Value string_split(Call& call) { return split_string(call, Side::kLeft); }
Value string_rsplit(Call& call) { return split_string(call, Side::kRight); }

Value string_splitlines(Call& call) {
  return make_sequence(
      call.budget(), Kind::kList,
      split_lines(call.budget(), call.self(), call.truth(0, false)));
}

Value partitioned(Call& call, bool from_right) {
  Budget* budget = call.budget();
  const Text& text = call.self().text();
  const std::string& cut = call.string(0).text().bytes();
  if (cut.empty()) fault("a separator can't be empty");
  budget->step_bytes(search_cost(text.bytes(), cut));
  const size_t at =
      from_right ? find_last(text.bytes(), cut) : find_first(text.bytes(), cut);
  const bool found = at != std::string_view::npos;
  // Without the separator all of it is one of the outer parts.
  const size_t begin = found ? at : from_right ? 0 : text.size();
  const size_t end = found ? at + cut.size() : begin;
  const bool markup = call.self().is_markup();
  Items parts(budget);
  parts.push(make_string(budget, text.slice(0, begin), markup));
  parts.push(make_string(budget, text.slice(begin, end), markup));
  parts.push(make_string(budget, text.slice(end, text.size()), markup));
  return parts.finish(Kind::kTuple);
}
Value string_partition(Call& call) { return partitioned(call, false); }
Value string_rpartition(Call& call) { return partitioned(call, true); }

Value string_replace(Call& call) {
  Value by = call.string(1);
  if (call.self().is_markup()) by = escape_html(call.budget(), by);
  return replace(call.budget(), call.self(), call.string(0).text(), by.text(),
                 call.integer(2, -1));
}

Value string_join(Call& call) {
  const bool markup = call.self().is_markup();
  const Ref<Iterator> iterator = iterate(call.budget(), call[0]);
  Writer out(call.budget());
  bool first = true;
  while (std::optional<Value> value = iterator->next()) {
    if (!first) out.append(call.self().text());
    first = false;
    if (markup) value = escape_html(call.budget(), *value);
    if (!value->is_string()) {
      if (value->is_undefined()) fault_undefined(*value);
      fault("join() takes strings, not ", type_with_article(*value),
            ": use the filter 'join'");
    }
    out.append(value->text());
  }
  return out.finish(markup);
}

Value string_expandtabs(Call& call) {
  const Text& text = call.self().text();
  const int64_t size = call.integer(0, 8);
  Writer out(call.budget());
  OriginCursor origins(text);
  int64_t column = 0;
  for (const Character& c : characters(text.bytes())) {
    call.budget()->step();
    const Origin origin = origins.at(c.begin);
    if (c.code_point == '\t') {
      const int64_t count = size > 0 ? size - column % size : 0;
      out.repeat(Text(" ", origin), static_cast<size_t>(count));
      column += count;
      continue;
    }
    ++column;
    if (c.code_point == '\n' || c.code_point == '\r') column = 0;
    out.append(text, c.begin, c.begin + c.size);
  }
  return out.finish(call.self().is_markup());
}

Value string_format(Call& call) {
  return brace_format(&call.interpreter(), call.self(), call.arguments());
}

Value string_format_map(Call& call) {
  if (!call[0].is(Kind::kDict)) call.refuse(0, "a dict");
  Arguments arguments;
  call.budget()->step(call[0].as_dict().size());
  for (const auto& [key, value] : call[0].as_dict().entries()) {
    if (key.is_string()) {
      arguments.named.emplace_back(key.text().bytes(), value);
    }
  }
  return brace_format(&call.interpreter(), call.self(), arguments);
}

constexpr Builtin kStringMethods[] = {
    {"capitalize", "", string_capitalize},
    {"casefold", "", string_casefold},
    {"center", "/width fill?", string_center},
    {"count", "/sub start? end?", string_count},
    {"endswith", "/suffix start? end?", string_endswith},
    {"expandtabs", "tabsize?", string_expandtabs},
    {"find", "/sub start? end?", string_find},
    {"format", "*", string_format},
    {"format_map", "/mapping", string_format_map},
    {"index", "/sub start? end?", string_index},
    {"isalnum", "", string_isalnum},
    {"isalpha", "", string_isalpha},
    {"isascii", "", string_isascii},
    {"isdecimal", "", string_isdecimal},
    {"isdigit", "", string_isdigit},
    {"isidentifier", "", string_isidentifier},
    {"islower", "", string_islower},
    {"isnumeric", "", string_isnumeric},
    {"isprintable", "", string_isprintable},
    {"isspace", "", string_isspace},
    {"istitle", "", string_istitle},
    {"isupper", "", string_isupper},
    {"join", "/iterable", string_join},
    {"ljust", "/width fill?", string_ljust},
    {"lower", "", string_lower},
    {"lstrip", "/chars?", string_lstrip},
    {"partition", "/sep", string_partition},
    {"removeprefix", "/prefix", string_removeprefix},
    {"removesuffix", "/suffix", string_removesuffix},
    {"replace", "/old new count?", string_replace},
    {"rfind", "/sub start? end?", string_rfind},
    {"rindex", "/sub start? end?", string_rindex},
    {"rjust", "/width fill?", string_rjust},
    {"rpartition", "/sep", string_rpartition},
    {"rsplit", "sep? maxsplit?", string_rsplit},
    {"rstrip", "/chars?", string_rstrip},
    {"split", "sep? maxsplit?", string_split},
    {"splitlines", "keepends?", string_splitlines},
    {"startswith", "/prefix start? end?", string_startswith},
    {"strip", "/chars?", string_strip},
    {"swapcase", "", string_swapcase},
    {"title", "", string_title},
    {"upper", "", string_upper},
    {"zfill", "/width", string_zfill},
};

}  // namespace

const Builtin* find_string_method(std::string_view name) {
  return find_builtin(kStringMethods, name);
}

}  // namespace rc::text::chat
