// The only place that knows toml++, the reader of TOML.
#include <string_view>

#include "base/error.h"

namespace rc::config {
namespace {

// toml++ 3.3 asserts what a file may well contradict, which would end the
// process, and compiled for release takes it for granted. Here it is an error
// of the file in every build.
constexpr void need(bool holds, std::string_view condition) {
  // toml++ checks this condition again later, with a better message.
  if (condition.starts_with("is_bare_key_character(")) return;
  if (!holds) fail(RC_E_FORMAT, "malformed: ", condition, " does not hold");
}

}  // namespace
}  // namespace rc::config

#undef NDEBUG
// Renames the functions of toml++: a program that links the static library may
// contain another copy of it.
#define toml runcible_toml
#define TOML_ASSERT(condition) \
  ::rc::config::need(static_cast<bool>(condition), #condition)
#define TOML_HEADER_ONLY 1
// The exceptions of toml++ copy their message in a noexcept constructor; as
// results, errors only move it. A failed allocation throws either way.
#define TOML_EXCEPTIONS 0
// Its other way to read real numbers, by a stream, turns a failed allocation
// into an error of the text.
#define TOML_FLOAT_CHARCONV 1
#define TOML_ENABLE_FORMATTERS 0
// An inline table is the deepest that means something; more levels are read
// only to say so.
#define TOML_MAX_NESTED_VALUES 4
#include <toml++/impl/forward_declarations.h>
// Likewise for what it calls unreachable. Of characters that are asked whether
// they are white space it comes to those that are not.
#undef TOML_UNREACHABLE
#define TOML_UNREACHABLE return false
#include <toml++/impl/unicode.h>
#undef TOML_UNREACHABLE
#define TOML_UNREACHABLE ::rc::fail(RC_E_FORMAT, "malformed")
#include <toml++/toml.h>

#include <algorithm>
#include <vector>

#include "base/config/file.h"
#include "base/quote.h"

namespace rc::config {
namespace {

struct Entry {
  std::string key;
  size_t line;
  const toml::node* node;
};

// Every value that is no table, and every empty table, by its full name.
void list(const toml::table& table, const std::string& prefix,
          std::vector<Entry>& entries) {
  for (const auto& [key, node] : table) {
    const std::string name = prefix + std::string(key.str());
    const toml::table* inner = node.as_table();
    if (inner != nullptr && !inner->empty()) {
      list(*inner, name + ".", entries);
    } else {
      entries.push_back({name, node.source().begin.line, &node});
    }
  }
}

bool is_table_of_keys(const std::string& name) {
  const std::span<const Key> all = keys();
  return std::any_of(all.begin(), all.end(), [&](const Key& key) {
    return std::string_view(key.name).starts_with(name + ".");
  });
}

const char* kind_name(const toml::node& node) {
  if (node.is_array()) return "an array";
  if (node.is_table()) return "a table";
  return "a date or time";
}

Value value_of(const Key& key, const toml::node& node,
               const std::string& subject) {
  if (const auto* flag = node.as_boolean()) {
    return checked_value(key, flag->get(), subject);
  }
  if (const auto* whole = node.as_integer()) {
    return checked_value(key, whole->get(), subject);
  }
  if (const auto* real = node.as_floating_point()) {
    return checked_value(key, real->get(), subject);
  }
  if (const auto* text = node.as_string()) {
    return checked_value(key, Text(text->get()), subject);
  }
  fail(RC_E_FORMAT, subject, " is ", kind_name(node), "; it must be ",
       allowed(key));
}

// Every dot of a key is a table within a table, and toml++ 3.3 makes any number
// of them, which it destroys one within the other, on the caller's stack. No
// setting has more than one.
void check_dots(std::string_view text, const std::string& name) {
  constexpr std::ptrdiff_t kMostDots = 32;
  for (size_t line = 1; !text.empty(); ++line) {
    const std::string_view one = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(one.size() + 1, text.size()));
    const size_t first = one.find_first_not_of(" \t");
    if (first == one.npos || one[first] == '#') continue;
    if (std::count(one.begin(), one.end(), '.') > kMostDots) {
      fail(RC_E_FORMAT, name, ":", line, ": more than ", kMostDots,
           " dots on a line; no setting needs them");
    }
  }
}

// toml++ copies the name of a file in a noexcept constructor, so that it is not
// given here.
toml::parse_result parse_text(std::string_view text, const std::string& name) {
  try {
    return toml::parse(text);
  } catch (const Error& error) {
    fail(error.status(), name, ": no TOML: ", error.message());
  }
}

}  // namespace

std::map<std::string, FileValue, std::less<>> parse(std::string_view text,
                                                    const std::string& name) {
  check_dots(text, name);
  const toml::parse_result result = parse_text(text, name);
  if (result.failed()) {
    fail(RC_E_FORMAT, name, ":", result.error().source().begin.line,
         ": no TOML: ", result.error().description());
  }
  std::vector<Entry> entries;
  list(result.table(), "", entries);
  // The first mistake of the file is reported.
  std::stable_sort(
      entries.begin(), entries.end(),
      [](const Entry& a, const Entry& b) { return a.line < b.line; });
  std::map<std::string, FileValue, std::less<>> values;
  for (const Entry& entry : entries) {
    const Key* key = find_key(entry.key);
    if (key == nullptr) {
      if (entry.node->is_table() && is_table_of_keys(entry.key)) continue;
      fail(RC_E_FORMAT, name, ":", entry.line, ": there is no setting ",
           quote(entry.key), "; the nearest is ", nearest_key(entry.key)->name);
    }
    values[entry.key] = {value_of(*key, *entry.node,
                                  cat(name, ":", entry.line, ": ", entry.key)),
                         entry.line};
  }
  return values;
}

}  // namespace rc::config
