// Text read line by line and word by word. Each function takes what it gives
// off the text, which is somewhere else and lives longer.
#pragma once

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>
#include <system_error>

namespace rc {

// The next line, without its end; nothing if there is none.
inline std::optional<std::string_view> take_line(std::string_view& text) {
  if (text.empty()) return std::nullopt;
  const size_t end = text.find('\n');
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(end == text.npos ? text.size() : end + 1);
  return line;
}

// Removes and returns the next run of non-whitespace characters; nullopt if
// there is none.
inline std::optional<std::string_view> take_word(std::string_view& text) {
  constexpr std::string_view kSpace = " \t\n\v\f\r";
  text.remove_prefix(std::min(text.find_first_not_of(kSpace), text.size()));
  if (text.empty()) return std::nullopt;
  const std::string_view word = text.substr(0, text.find_first_of(kSpace));
  text.remove_prefix(word.size());
  return word;
}

// The number that the next word begins with.
template <class Number>
std::optional<Number> take_number(std::string_view& text) {
  const std::string_view word = take_word(text).value_or("");
  Number number{};
  const auto read =
      std::from_chars(word.data(), word.data() + word.size(), number);
  if (read.ec != std::errc()) return std::nullopt;
  return number;
}

}  // namespace rc
