// Values as texts that are equal where the values are, as JSON Schema compares
// them: numbers by what they are worth, members of objects in any order.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace rc::text::grammar {

// Of a string; the text has no escapes.
inline std::string string_value(std::string_view text) {
  return std::string("\"").append(text);
}
// Of a number, true, false or null as it is written. Numbers beyond 10^400 and
// 10^-400 are only equal where they are written alike, and begin with "x".
std::string bare_value(std::string_view text);
// Of what values of this kind hold.
std::string array_value(const std::vector<std::string_view>& items);
std::string object_value(
    std::vector<std::pair<std::string_view, std::string_view>> members);

}  // namespace rc::text::grammar
