// Methods that find out something about a string.
#include <algorithm>

#include "text/chat/interpreter.h"
#include "text/chat/search.h"
#include "text/chat/string_methods.h"
#include "text/chat/unicode.h"

namespace rc::text::chat {
namespace {

// The part of a string that the arguments `start` and `stop` leave, in bytes.
struct Part {
  size_t begin = 0;
  size_t end = 0;
  size_t first = 0;      // the character at `begin`
  bool is_valid = true;  // false if it begins behind its end
};

Part part_of(const Call& call, size_t start, size_t stop) {
  const String& string = call.self().as_string();
  const auto length = static_cast<int64_t>(string.length());
  const auto bound = [&](size_t i, int64_t otherwise) {
    if (call.is_none(i)) return otherwise;
    const int64_t at = call.integer(i, otherwise);
    return at < 0 ? std::max<int64_t>(at + length, 0) : at;
  };
  const int64_t first = bound(start, 0);
  const int64_t last = std::min(bound(stop, length), length);
  Part part;
  part.is_valid = first <= last;
  if (!part.is_valid) return part;
  if (!string.is_ascii()) call.budget()->step_bytes(string.text().size());
  part.first = static_cast<size_t>(first);
  part.begin = string.offset(part.first);
  part.end = last == length ? string.text().size()
                            : string.offset(static_cast<size_t>(last));
  return part;
}

// The number of the character where the argument is found, -1 if nowhere.
int64_t found_at(const Call& call, bool from_right) {
  const std::string& what = call.string(0).text().bytes();
  const std::string_view bytes = call.self().text().bytes();
  call.budget()->step_bytes(search_cost(bytes, what));
  const Part part = part_of(call, 1, 2);
  if (!part.is_valid) return -1;
  const std::string_view within =
      bytes.substr(part.begin, part.end - part.begin);
  const size_t at =
      from_right ? find_last(within, what) : find_first(within, what);
  if (at == std::string_view::npos) return -1;
  return static_cast<int64_t>(part.first +
                              count_characters(within.substr(0, at)));
}

// Whether any of the argument, a string or a tuple of them, holds for a part.
template <class Matches>
Value any_of_argument(const Call& call, Matches matches) {
  const Part part = part_of(call, 1, 2);
  const std::string_view within =
      std::string_view(call.self().text().bytes())
          .substr(part.begin, part.end - part.begin);
  const auto holds = [&](const Value& one) {
    if (!one.is_string()) call.refuse(0, "a string or a tuple of strings");
    call.budget()->step_bytes(one.text().size());
    return part.is_valid &&
           matches(within, std::string_view(one.text().bytes()));
  };
  if (!call[0].is(Kind::kTuple)) return Value::boolean(holds(call[0]));
  call.budget()->step(call[0].as_sequence().size());
  const auto& all = call[0].as_sequence().items();
  return Value::boolean(std::any_of(all.begin(), all.end(), holds));
}

// Whether there are characters and a question holds for all of them.
Value all_are(const Call& call, bool (*holds)(char32_t)) {
  const std::string& bytes = call.self().text().bytes();
  call.budget()->step_bytes(bytes.size());
  for (const Character& c : characters(bytes)) {
    if (!holds(c.code_point)) return Value::boolean(false);
  }
  return Value::boolean(!bytes.empty());
}

Value letters_are(const Call& call, bool (*wanted)(char32_t),
                  bool (*other)(char32_t)) {
  const std::string& bytes = call.self().text().bytes();
  call.budget()->step_bytes(bytes.size());
  bool found = false;
  for (const Character& c : characters(bytes)) {
    if (other(c.code_point) || is_title(c.code_point)) {
      return Value::boolean(false);
    }
    found = found || wanted(c.code_point);
  }
  return Value::boolean(found);
}

Value found_or_fail(const Call& call, bool from_right) {
  const int64_t at = found_at(call, from_right);
  if (at < 0) fault("the string to find is not there: use find() to test");
  return Value::integer(at);
}

}  // namespace

Value string_count(Call& call) {
  const std::string& what = call.string(0).text().bytes();
  const std::string_view bytes = call.self().text().bytes();
  call.budget()->step_bytes(search_cost(bytes, what));
  const Part part = part_of(call, 1, 2);
  if (!part.is_valid) return Value::integer(0);
  const std::string_view within =
      bytes.substr(part.begin, part.end - part.begin);
  if (what.empty()) {
    return Value::integer(static_cast<int64_t>(count_characters(within)) + 1);
  }
  int64_t count = 0;
  for (size_t at = 0;; ++count) {
    at = find_first(within, what, at);
    if (at == std::string_view::npos) break;
    call.budget()->step();
    at += what.size();
  }
  return Value::integer(count);
}

Value string_find(Call& call) { return Value::integer(found_at(call, false)); }
Value string_rfind(Call& call) { return Value::integer(found_at(call, true)); }
Value string_index(Call& call) { return found_or_fail(call, false); }
Value string_rindex(Call& call) { return found_or_fail(call, true); }

Value string_startswith(Call& call) {
  return any_of_argument(call,
                         [](std::string_view text, std::string_view what) {
                           return text.starts_with(what);
                         });
}

Value string_endswith(Call& call) {
  return any_of_argument(call,
                         [](std::string_view text, std::string_view what) {
                           return text.ends_with(what);
                         });
}

Value string_isalnum(Call& call) {
  return all_are(call,
                 [](char32_t c) { return is_letter(c) || is_numeric(c); });
}
Value string_isalpha(Call& call) { return all_are(call, is_letter); }
Value string_isascii(Call& call) {
  return Value::boolean(call.self().as_string().is_ascii());
}
Value string_isdecimal(Call& call) {
  return all_are(call, [](char32_t c) { return decimal_digit(c) >= 0; });
}
Value string_isdigit(Call& call) { return all_are(call, is_digit_like); }
Value string_isnumeric(Call& call) { return all_are(call, is_numeric); }
Value string_isspace(Call& call) { return all_are(call, is_space); }
Value string_isprintable(Call& call) {
  return Value::boolean(call.self().text().empty() ||
                        all_are(call, is_printable).as_bool());
}
Value string_isidentifier(Call& call) {
  const std::string& bytes = call.self().text().bytes();
  return Value::boolean(!bytes.empty() &&
                        is_name_start(decode_utf8(bytes).code_point) &&
                        all_are(call, is_word).as_bool());
}
Value string_islower(Call& call) {
  return letters_are(call, is_lower, is_upper);
}
Value string_isupper(Call& call) {
  return letters_are(call, is_upper, is_lower);
}

Value string_istitle(Call& call) {
  const std::string& bytes = call.self().text().bytes();
  call.budget()->step_bytes(bytes.size());
  bool after_cased = false;
  bool found = false;
  for (const Character& c : characters(bytes)) {
    const bool begins = is_upper(c.code_point) || is_title(c.code_point);
    const bool cased = begins || is_lower(c.code_point);
    if (cased && begins == after_cased) return Value::boolean(false);
    after_cased = cased;
    found = found || cased;
  }
  return Value::boolean(found);
}

}  // namespace rc::text::chat
