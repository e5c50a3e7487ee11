// Options that are numbers, with their limits in words.
#pragma once

#include <CLI/CLI.hpp>
#include <charconv>
#include <limits>
#include <sstream>
#include <string>
#include <type_traits>

namespace cli {

template <class T>
struct Limits {
  T least = std::numeric_limits<T>::lowest();
  T most = std::numeric_limits<T>::max();
  bool above = false;  // `least` itself is not allowed
};

// "a number", "a number from 1", "a number above 0 and up to 1".
template <class T>
std::string words(const Limits<T>& limits) {
  const auto text = [](T value) {
    std::ostringstream out;
    out << value;
    return out.str();
  };
  std::string words = "a number";
  const bool low =
      std::is_unsigned_v<T> || limits.least != std::numeric_limits<T>::lowest();
  const bool high = limits.most != std::numeric_limits<T>::max();
  if (low) words += (limits.above ? " above " : " from ") + text(limits.least);
  if (high) {
    words += (low && !limits.above ? " to "
              : low                ? " and up to "
                                   : " up to ") +
             text(limits.most);
  }
  return words;
}

// Whether all of the text is a number that fits into T. (CLI11 takes -1 for the
// largest number without a sign, and a number that is too large for the largest
// that fits.)
template <class T>
bool read_number(const std::string& text, T& value) {
  if constexpr (std::is_integral_v<T>) {
    const char* const end = text.data() + text.size();
    const auto read = std::from_chars(text.data(), end, value);
    return read.ec == std::errc() && read.ptr == end;
  } else {
    return CLI::detail::lexical_cast(text, value);
  }
}

// Adds the limits to an option of type T, or of a list of T, and to its help.
template <class T>
CLI::Option* limit(CLI::Option* option, const Limits<T>& limits) {
  const std::string allowed = words(limits);
  option->type_name("NUMBER");
  option->description(option->get_description() + " (" + allowed + ")");
  return option->check([limits, allowed](const std::string& given) {
    T value{};
    const bool read = read_number(given, value);
    // A value that is not a number fails every comparison.
    const bool fits =
        read && value <= limits.most &&
        (limits.above ? value > limits.least : value >= limits.least);
    return fits ? std::string() : given + " is not " + allowed;
  });
}

}  // namespace cli
