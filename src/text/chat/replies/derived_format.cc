#include "text/chat/replies/derived_format.h"

#include <algorithm>
#include <optional>

#include "base/error.h"
#include "base/json_value.h"
#include "text/chat/loose_json.h"
#include "text/chat/replies/call_parts.h"
#include "text/chat/replies/json_scanner.h"

namespace rc::text::chat {
namespace {

using Type = JsonValue::Type;

constexpr size_t kNone = std::string_view::npos;

// The JSON object or array that begins at a place.
struct FoundJson {
  JsonValue value;
  size_t end = 0;
};

std::optional<FoundJson> json_at(std::string_view text, size_t begin) {
  JsonScanner scanner;
  for (size_t at = begin; at < text.size(); ++at) {
    const auto result = scanner.feed(text[at]);
    if (result == JsonScanner::Result::kBad) return std::nullopt;
    if (result != JsonScanner::Result::kDone) continue;
    auto value = read_loose_json(text.substr(begin, at + 1 - begin));
    if (!value) return std::nullopt;
    return FoundJson{std::move(*value), at + 1};
  }
  return std::nullopt;
}

// The first such value from `from` on that ends behind `least`.
std::optional<FoundJson> first_json(std::string_view text, size_t from,
                                    size_t least, size_t* begin) {
  for (*begin = text.find_first_of("{[", from);
       *begin != kNone && (least == kNone || *begin <= least);
       *begin = text.find_first_of("{[", *begin + 1)) {
    auto found = json_at(text, *begin);
    if (found && (least == kNone || found->end > least)) return found;
  }
  return std::nullopt;
}

bool is_text(const JsonValue& value, std::string_view text) {
  return value.is(Type::kString) && value.text == text;
}

bool holds_arguments(const JsonValue& value, const ProbeCall& call) {
  const JsonValue* first = value.find(call.key);
  const JsonValue* other = value.find(call.other_key);
  return value.is(Type::kObject) && first != nullptr && other != nullptr &&
         is_text(*first, call.value) && is_text(*other, call.other_value);
}

// Where a mark may begin, or the text after it.
bool is_boundary(std::string_view text, size_t at) {
  return at == 0 || at >= text.size() || text[at] == '<' || text[at] == '[' ||
         is_reply_space(text[at]) || text[at - 1] == '>' ||
         text[at - 1] == ']' || is_reply_space(text[at - 1]);
}

// Bytes at the beginning of both texts, as whole marks.
size_t common_begin(std::string_view a, std::string_view b) {
  auto size = static_cast<size_t>(
      std::mismatch(
          a.begin(),
          a.begin() + static_cast<std::ptrdiff_t>(std::min(a.size(), b.size())),
          b.begin())
          .first -
      a.begin());
  while (size > 0 && !(is_boundary(a, size) && is_boundary(b, size))) --size;
  return size;
}

// The same at the end.
size_t common_end(std::string_view a, std::string_view b) {
  size_t size = 0;
  const size_t most = std::min(a.size(), b.size());
  while (size < most && a[a.size() - 1 - size] == b[b.size() - 1 - size]) {
    ++size;
  }
  while (size > 0 && !(is_boundary(a, a.size() - size) &&
                       is_boundary(b, b.size() - size))) {
    --size;
  }
  return size;
}

// Splits a text that begins with a bracket before its last mark.
std::pair<std::string_view, std::string_view> split_last_mark(
    std::string_view text) {
  size_t at = text.rfind('<');
  if (at == kNone) at = text.rfind('[');
  if (at == kNone) return {{}, text};
  return {text.substr(0, at), text.substr(at)};
}

}  // namespace

std::string_view DerivedFormat::keep(std::string_view text) {
  return texts_.emplace_back(text);
}

void DerivedFormat::drop(std::string_view mark) {
  mark = without_spaces(mark);
  if (mark.empty() || dropped_ == format_.dropped.size()) return;
  format_.dropped[dropped_++] = keep(mark);
}

// From the texts before the first call, between two (all of it if there is only
// one), and after the last one: the marks around each, and around all.
void DerivedFormat::set_ends(std::string_view before, std::string_view between,
                             std::string_view after) {
  size_t begin = before.size();
  size_t end = after.size();
  if (!between.empty()) {
    end = common_begin(between, after);
    begin = common_end(between.substr(end), before);
  }
  const std::string_view call_begin = before.substr(before.size() - begin);
  const std::string_view call_end = after.substr(0, end);
  format_.call_begin = keep(without_spaces(call_begin));
  format_.call_end = keep(without_spaces(call_end));
  WrittenAnswer& written = format_.written;
  written.section_begin = keep(before.substr(0, before.size() - begin));
  written.begin = keep(call_begin);
  written.end = keep(call_end);
  written.section_end = keep(after.substr(end));
  drop(written.section_begin);
  drop(written.section_end);
}

bool DerivedFormat::find_objects(const ProbeAnswers& answers) {
  const std::string_view one = answers.one;
  const std::string_view both = answers.both;
  const ProbeCall& call = kFirstProbe;
  const size_t name = one.find(call.name);
  size_t begin = 0;
  const auto found = first_json(one, 0, name, &begin);
  if (!found) return false;
  format_.written.array = found->value.is(Type::kArray);
  if (format_.written.array && found->value.items.size() != 1) return false;
  const JsonValue& object =
      format_.written.array ? found->value.items[0] : found->value;
  if (!object.is(Type::kObject)) return false;
  format_.shape = CallShape::kObjects;
  format_.name_key = format_.arguments_key = "";
  for (const auto& [key, value] : object.members) {
    if (key == call.name && holds_arguments(value, call)) {
      if (object.members.size() != 1) return false;
      format_.arguments_key = "arguments";
    } else if (is_text(value, call.name)) {
      format_.name_key = keep(key);
    } else if (is_text(value, call.id)) {
      format_.id_key = keep(key);
    } else if (holds_arguments(value, call)) {
      format_.arguments_key = keep(key);
    }
  }
  if (format_.arguments_key.empty()) return false;

  std::string_view between;
  if (!format_.written.array && !both.empty()) {
    const size_t other = both.find(kOtherProbe.name);
    size_t next = 0;
    if (other == kNone ||
        both.substr(0, found->end) != one.substr(0, found->end) ||
        !first_json(both, found->end, other, &next)) {
      return false;
    }
    between = both.substr(found->end, next - found->end);
    // Objects that are separated only by a comma have no marks.
    if (between.find_first_not_of(" \t\r\n,;") == kNone) between = {};
  }
  set_ends(one.substr(0, begin), between, one.substr(found->end));
  format_.bare = format_.call_begin.empty();
  return true;
}

bool DerivedFormat::find_named(const ProbeAnswers& answers) {
  const std::string_view one = answers.one;
  const std::string_view both = answers.both;
  const ProbeCall& call = kFirstProbe;
  const size_t name = one.find(call.name);
  const size_t name_end = name + call.name.size();
  size_t begin = 0;
  const auto found = first_json(one, name_end, kNone, &begin);
  if (!found || !holds_arguments(found->value, call)) return false;
  format_.shape = CallShape::kNamed;
  std::string_view before = one.substr(0, name);
  std::string_view header = one.substr(name_end, begin - name_end);
  if (const size_t id = header.find(call.id); id != kNone) {
    format_.id_begin = keep(without_spaces(header.substr(0, id)));
    header.remove_prefix(id + call.id.size());
    if (format_.id_begin.empty()) return false;
  } else if (before.find(call.id) != kNone) {
    return false;
  }
  format_.name_end = keep(without_spaces(header));
  if (format_.name_end.empty()) format_.name_end = keep(header);
  if (format_.name_end.empty()) return false;
  format_.written.name_end = keep(header);
  std::string_view between;
  if (!both.empty()) {
    const size_t other = both.find(kOtherProbe.name);
    if (other == kNone || other < found->end) return false;
    between = both.substr(found->end, other - found->end);
  }
  set_ends(before, between, one.substr(found->end));
  return !format_.call_begin.empty();
}

// From the texts between the name and the first key, between a key and its
// value, and between a value and the next key.
void DerivedFormat::set_tags(std::string_view name_to_key,
                             std::string_view key_to_value,
                             std::string_view value_to_key) {
  format_.shape = CallShape::kTags;
  const auto [value_end, key_begin] = split_last_mark(value_to_key);
  const std::string_view name_end =
      name_to_key.substr(0, name_to_key.size() - key_begin.size());
  format_.name_end = keep(without_spaces(name_end));
  format_.key_begin = keep(key_begin);
  const auto [key_end, value_begin] = split_last_mark(key_to_value);
  if (without_spaces(key_end).empty()) {
    format_.key_end = keep(without_spaces(key_to_value));
  } else {
    format_.key_end = keep(without_spaces(key_end));
    format_.value_begin = keep(without_spaces(value_begin));
  }
  format_.value_end = keep(without_spaces(value_end));
  format_.values_on_lines =
      key_to_value.ends_with('\n') && value_to_key.starts_with('\n');
  WrittenAnswer& written = format_.written;
  written.name_end = keep(name_end);
  written.key_begin = format_.key_begin;
  written.key_end = keep(key_to_value);
  written.value_end = keep(value_end);
}

// Where what is between a key and its value says whether that is a string: from
// this text and that of an answer with numbers.
void DerivedFormat::set_attribute(std::string_view key_to_value,
                                  std::string_view numbers) {
  const size_t key = numbers.find(kFirstProbe.key);
  const size_t begin =
      key == kNone ? kNone : key + std::string_view(kFirstProbe.key).size();
  const size_t end =
      numbers.find(kProbeNumber, std::min(begin, numbers.size()));
  if (end == kNone) return;
  const std::string_view of_numbers = numbers.substr(begin, end - begin);
  if (of_numbers == key_to_value) return;
  const size_t attribute = key_to_value.find_first_not_of("\"'> ");
  const size_t name_end = key_to_value.find('=', attribute);
  const size_t tail = key_to_value.find_last_of('>');
  if (attribute == kNone || attribute == 0 || name_end == kNone ||
      tail == kNone || tail < name_end ||
      !of_numbers.starts_with(key_to_value.substr(0, name_end + 1))) {
    return;
  }
  // The last mark, or the bracket at the end of the one with the attribute.
  const size_t mark = key_to_value.rfind('<');
  const size_t value = mark != kNone && mark > name_end ? mark : tail;
  if (!of_numbers.ends_with(key_to_value.substr(value))) return;
  format_.key_end = keep(without_spaces(key_to_value.substr(0, attribute)));
  if (format_.key_end.empty()) format_.key_end = " ";
  format_.value_begin = keep(without_spaces(key_to_value.substr(value)));
  format_.string_attribute =
      keep(without_spaces(key_to_value.substr(attribute, value - attribute)));
  format_.written.key_end = keep(of_numbers);
  format_.written.string_key_end = keep(key_to_value);
}

// The marks right before and after reasoning, where one is like the other with
// a slash.
void DerivedFormat::set_reasoning(std::string_view text) {
  const size_t at = text.find(kProbeReasoning);
  if (at == kNone) return;
  const std::string_view before = without_spaces(text.substr(0, at));
  const std::string_view after =
      without_spaces(text.substr(at + kProbeReasoning.size()));
  const size_t mark = before.find_last_of("<[");
  const size_t end = after.find_first_of(">]");
  if (mark == kNone || end == kNone) return;
  const std::string_view begin_mark = before.substr(mark);
  const std::string_view end_mark = after.substr(0, end + 1);
  if (!is_tag(begin_mark) || end_mark.size() != begin_mark.size() + 1) return;
  const size_t slash = end_mark.find('/');
  if (slash == kNone || cat(end_mark.substr(0, slash),
                            end_mark.substr(slash + 1)) != begin_mark) {
    return;
  }
  format_.reasoning_begin = keep(begin_mark);
  format_.reasoning_end = keep(end_mark);
}

// From the texts before the name, between a key and its value, and after the
// last value. Quotes are parts of values.
bool DerivedFormat::find_python(std::string_view before,
                                std::string_view key_to_value,
                                std::string_view after) {
  const char quote = key_to_value.back();
  key_to_value.remove_suffix(1);
  if (without_spaces(key_to_value) != "=" || (quote != '"' && quote != '\'') ||
      !after.starts_with(quote) || !after.substr(1).starts_with(')')) {
    return false;
  }
  after.remove_prefix(2);
  const bool list = before.ends_with('[') && after.starts_with(']');
  if (list) {
    before.remove_suffix(1);
    after.remove_prefix(1);
  }
  format_.shape = CallShape::kPython;
  set_ends(before, {}, after);
  format_.bare = format_.call_begin.empty();
  WrittenAnswer& written = format_.written;
  written.begin = keep(cat(written.begin, list ? "[" : ""));
  written.end = keep(cat(list ? ")]" : ")", written.end));
  written.name_end = "(";
  written.key_end = "=";
  written.between = ", ";
  return list || !format_.bare;
}

bool DerivedFormat::find_arguments(const ProbeAnswers& answers) {
  const std::string_view one = answers.one;
  const std::string_view both = answers.both;
  const ProbeCall& call = kFirstProbe;
  const size_t name = one.find(call.name);
  const size_t name_end = name + call.name.size();
  size_t at = name_end;
  const auto next = [&](std::string_view text) {
    const size_t found = at == kNone ? kNone : one.find(text, at);
    const std::string_view before =
        found == kNone ? std::string_view() : one.substr(at, found - at);
    at = found == kNone ? kNone : found + text.size();
    return before;
  };
  const std::string_view name_to_key = next(call.key);
  const std::string_view key_to_value = next(call.value);
  const std::string_view value_to_key = next(call.other_key);
  const std::string_view other_to_value = next(call.other_value);
  if (at == kNone || key_to_value != other_to_value || key_to_value.empty()) {
    return false;
  }
  std::string_view after = one.substr(at);
  std::string_view before = one.substr(0, name);
  if (before.find(call.id) != kNone || after.find(call.id) != kNone) {
    return false;
  }
  if (without_spaces(name_to_key) == "(") {
    return find_python(before, key_to_value, after);
  }
  const WrittenAnswer& written = format_.written;
  set_tags(name_to_key, key_to_value, value_to_key);
  set_attribute(key_to_value, answers.numbers);
  if (format_.key_begin.empty() || format_.value_end.empty() ||
      format_.key_end.empty() || !name_to_key.ends_with(format_.key_begin) ||
      !after.starts_with(written.value_end)) {
    return false;
  }
  after.remove_prefix(written.value_end.size());
  std::string_view between;
  if (!both.empty()) {
    const size_t end = at + written.value_end.size();
    const size_t other = both.find(kOtherProbe.name);
    if (other == kNone || other < end) return false;
    between = both.substr(end, other - end);
  }
  set_ends(before, between, after);
  if (format_.call_begin.empty() || format_.call_end.empty()) return false;
  // Spaces within marks are the model's choice where it has several of them.
  const auto [outer, inner] = split_last_mark(format_.call_begin);
  if (is_tag(without_spaces(outer))) {
    format_.name_begin = inner;
    format_.call_begin = without_spaces(outer);
  }
  const auto [body_end, call_end] = split_last_mark(format_.call_end);
  if (is_tag(without_spaces(body_end))) {
    format_.body_end = without_spaces(body_end);
    format_.call_end = call_end;
  }
  return true;
}

std::unique_ptr<const DerivedFormat> DerivedFormat::find(
    const ProbeAnswers& answers) {
  if (answers.one.find(kFirstProbe.name) == kNone) return nullptr;
  for (const auto way :
       {&DerivedFormat::find_objects, &DerivedFormat::find_named,
        &DerivedFormat::find_arguments}) {
    std::unique_ptr<DerivedFormat> derived(new DerivedFormat());
    derived->format_.name = "derived";
    if (!((*derived).*way)(answers)) continue;
    derived->format_.raw_strings = answers.raw_strings;
    derived->set_reasoning(answers.reasoned);
    return derived;
  }
  return nullptr;
}

}  // namespace rc::text::chat
