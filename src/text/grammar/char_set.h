// Sets of Unicode scalar values.
#pragma once

#include <compare>
#include <cstdint>
#include <string_view>
#include <vector>

namespace rc::text::grammar {

inline constexpr char32_t kMaxCodePoint = 0x10FFFF;
// From the first to before the second lie the surrogates of UTF-16.
inline constexpr char32_t kSurrogates = 0xD800;
inline constexpr char32_t kAfterSurrogates = 0xE000;

// Sorted, disjoint ranges that do not touch; never a surrogate.
class CharSet {
 public:
  struct Range {
    char32_t low;
    char32_t high;  // included
    auto operator<=>(const Range&) const = default;
  };

  CharSet() = default;
  static CharSet all();
  static CharSet of(char32_t low, char32_t high);
  static CharSet of(std::string_view ascii);
  // Of ranges in any order, which may overlap. Takes n log n of their number.
  static CharSet of(std::vector<Range> ranges);

  const std::vector<Range>& ranges() const { return ranges_; }
  bool empty() const { return ranges_.empty(); }
  bool contains(char32_t c) const;

  CharSet operator|(const CharSet& other) const;
  CharSet operator&(const CharSet& other) const;
  CharSet operator~() const;
  auto operator<=>(const CharSet&) const = default;

 private:
  void append(const Range& range);

  std::vector<Range> ranges_;
};

// The white space of ECMA-262 (\s).
const CharSet& white_space();
// [A-Za-z0-9_] (\w).
const CharSet& word_characters();

// The characters of a general category ("Lu", "L", "Letter"), of "Any" or
// "ASCII". False if the name is unknown.
bool find_category(std::string_view name, CharSet* set);

}  // namespace rc::text::grammar
