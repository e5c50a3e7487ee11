// Shapes as the op schema writes them: "R heads d".
//
// A pattern is a list of dimensions with spaces between them, the slowest
// first:
//
//   R, R'      RC_DIM_ROWS or RC_DIM_OUTPUTS
//   rows       RC_DIM_ROWS
//   sequences  RC_DIM_SEQUENCES
//   2          that number
//   k          a fixed number of at least 1
//   k-1        one less than k, which an earlier dimension has given
//   B|1        B, which an earlier dimension has given, or 1
//   n|R'       n or R'
//   k?         a dimension that may be missing, and is then missing wherever it
//              is written so
//   ...        any number of fixed dimensions; "...a" distinguishes several
//
// A name stands for the same number everywhere in an op.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "runcible/plugin.h"

namespace rc {

class ShapePattern {
 public:
  enum Kind : int8_t {
    kName,
    kRows,      // "R" and "R'"
    kConstant,  // a number or a symbol
    kLess,      // "k-1"
    kOrOne,     // "B|1"
    kOrRows,    // "n|R'"
    kOptional,  // "k?"
    kRest       // "..."
  };
  // Small, as there are hundreds in the schema.
  class Dimension {
   public:
    constexpr Dimension() = default;
    constexpr Dimension(Kind of, std::string_view text, int8_t constant = 0)
        : kind(of),
          number(constant),
          text_(text.data()),
          size_(static_cast<int8_t>(text.size())),
          name_size_(static_cast<int8_t>(
              of == kRest ? text.size()
                          : text.substr(0, text.find_first_of("?-|")).size())) {
    }

    Kind kind = kName;
    int8_t number = 0;  // of kConstant
    std::string_view text() const { return {text_, Size(size_)}; }
    // "k" of "k", "k-1", "k|1" and "k?".
    std::string_view name() const { return {text_, Size(name_size_)}; }

   private:
    using Size = std::string_view::size_type;
    const char* text_ = nullptr;
    int8_t size_ = 0;
    int8_t name_size_ = 0;
  };

  constexpr ShapePattern() = default;
  // The text must outlive it. As a constant it is read by the compiler.
  constexpr ShapePattern(const char* text) {
    std::string_view left = text;
    while (!left.empty()) {
      const size_t end = left.find(' ');
      dimensions_[count_++] = dimension(left.substr(0, end));
      left = end == left.npos ? "" : left.substr(end + 1);
    }
  }

  const Dimension* begin() const { return dimensions_; }
  const Dimension* end() const { return dimensions_ + count_; }
  int size() const { return count_; }

 private:
  static constexpr Dimension dimension(std::string_view text) {
    if (text == "rows") return {kConstant, text, RC_DIM_ROWS};
    if (text == "sequences") return {kConstant, text, RC_DIM_SEQUENCES};
    if (text[0] >= '0' && text[0] <= '9') {
      return {kConstant, text, static_cast<int8_t>(text[0] - '0')};
    }
    const Kind kind = text.starts_with("...")       ? kRest
                      : text == "R" || text == "R'" ? kRows
                      : text.ends_with("-1")        ? kLess
                      : text.ends_with("|1")        ? kOrOne
                      : text.ends_with("|R'")       ? kOrRows
                      : text.ends_with("?")         ? kOptional
                                                    : kName;
    return {kind, text};
  }

  Dimension dimensions_[RC_PLUGIN_MAX_RANK];
  int8_t count_ = 0;
};

// The numbers that the names in the patterns of one op stand for.
class Dimensions {
 public:
  // Whether the value's shape is as the pattern says, given what earlier ones
  // have bound; if so, binds the names that are new.
  bool match(const ShapePattern& pattern, const rc_plugin_value& value);

  // Rank and shape that the pattern gives. Throws std::logic_error if a name
  // has not been bound.
  void apply(const ShapePattern& pattern, rc_plugin_value& value) const;

  // nullptr: not bound.
  const int64_t* find(std::string_view name) const;
  void bind(std::string_view name, int64_t number);

  // "[R, heads, 64]": the pattern with the numbers that are known.
  std::string text(const ShapePattern& pattern) const;

 private:
  struct Name {
    std::string_view name;
    // One, those of "...", or none for a dimension that is missing.
    int64_t numbers[RC_PLUGIN_MAX_RANK];
    int count;
  };
  static constexpr int kMostNames = 12;

  const Name* known(std::string_view name) const;
  bool known_missing(const ShapePattern::Dimension& dimension) const;
  void remember(std::string_view name, std::span<const int64_t> numbers);
  // Whether the name stands for these numbers, or is new and does so now.
  bool agree(std::string_view name, std::span<const int64_t> numbers);
  bool match_all(const ShapePattern& pattern, const rc_plugin_value& value);
  bool match_one(const ShapePattern::Dimension& dimension, int64_t number);

  Name names_[kMostNames];
  int count_ = 0;
};

// "[R, heads, d]".
std::string pattern_text(const ShapePattern& pattern);

}  // namespace rc
