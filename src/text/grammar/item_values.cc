#include "text/grammar/item_values.h"

#include <algorithm>

#include "base/error.h"
#include "text/grammar/decimal.h"

namespace rc::text::grammar {
namespace {

// Any text may come after its size.
void append_sized(std::string* to, std::string_view text) {
  *to += std::to_string(text.size());
  *to += ':';
  *to += text;
}

}  // namespace

std::string bare_value(std::string_view text) {
  if (text == "true" || text == "false" || text == "null") {
    return std::string(text);
  }
  try {
    const Decimal number = parse_decimal(text);
    if (number.zero()) return "0";
    return cat(number.negative ? "-" : "", "0.", number.digits, "e",
               number.exponent);
  } catch (const Error& error) {
    if (error.status() != RC_E_UNSUPPORTED) throw;
    return cat("x", text);
  }
}

std::string array_value(const std::vector<std::string_view>& items) {
  std::string value = "[";
  for (const std::string_view item : items) append_sized(&value, item);
  return value;
}

std::string object_value(
    std::vector<std::pair<std::string_view, std::string_view>> members) {
  std::sort(members.begin(), members.end());
  std::string value = "{";
  for (const auto& [name, member] : members) {
    append_sized(&value, name);
    append_sized(&value, member);
  }
  return value;
}

}  // namespace rc::text::grammar
