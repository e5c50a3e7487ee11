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
//   ...        any number of fixed dimensions; "...a" tells several apart
//
// A name stands for the same number everywhere in an op.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "runcible/plugin.h"

namespace rc {

// The numbers that the names in the patterns of one op stand for.
class Dimensions {
 public:
  // Whether the value's shape is as the pattern says, given what earlier ones
  // have bound; if so, binds the names that are new.
  bool match(const char* pattern, const rc_plugin_value& value);

  // Rank and shape that the pattern gives. Throws std::logic_error if a name
  // has not been bound.
  void apply(const char* pattern, rc_plugin_value& value) const;

  // nullptr: not bound.
  const int64_t* find(std::string_view name) const;
  void bind(std::string_view name, int64_t number);

  // "[R, heads, 64]": the pattern with the numbers that are known.
  std::string text(const char* pattern) const;

 private:
  struct Name {
    std::string_view name;
    // One, those of "...", or none for a dimension that is missing.
    int64_t numbers[RC_PLUGIN_MAX_RANK];
    int count;
  };
  static constexpr int kMostNames = 12;

  const Name* known(std::string_view name) const;
  bool known_missing(std::string_view dimension) const;
  void remember(std::string_view name, std::span<const int64_t> numbers);
  // Whether the name stands for these numbers, or is new and does so now.
  bool agree(std::string_view name, std::span<const int64_t> numbers);
  bool match_all(std::string_view pattern, const rc_plugin_value& value);
  bool match_one(std::string_view dimension, int64_t number);

  Name names_[kMostNames];
  int count_ = 0;
};

// "[R, heads, d]".
std::string pattern_text(const char* pattern);

}  // namespace rc
