// Regular expressions that look ahead: what a part of one matches depends on
// all that comes after it, up to the end of the text, so parts are joined from
// the right. What lookahead asks of the rest of a text is an intersection.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "text/grammar/expr.h"

namespace rc::text::grammar {

// The matches of a part of a pattern, by the anchors on its sides: [0] without,
// [kStarts] only at the beginning of the text, [kEnds] only at its end.
inline constexpr size_t kStarts = 1;
inline constexpr size_t kEnds = 2;
using Anchored = std::array<ExprId, 4>;

struct RegexPart {
  enum class Kind : uint8_t {
    kPlain,         // without lookahead
    kAhead,         // looks for its only part
    kSequence,      // its parts, one after the other
    kAlternatives,  // one of its parts
    kRepeat,        // its only part, min to max times
  };
  Kind kind = Kind::kPlain;
  bool negative = false;       // of kAhead
  bool one_character = false;  // kPlain: a set of characters
  uint32_t min = 0;            // of kRepeat
  uint32_t max = 0;
  Anchored plain = {};  // of kPlain
  std::vector<RegexPart> parts = {};
};

// The texts that match, as parse_regex returns them. Returns nothing if
// lookahead is repeated in a way that can't be joined, or in too many copies.
std::optional<ExprId> join_lookahead(const RegexPart& part, bool search,
                                     ExprPool* pool);

}  // namespace rc::text::grammar
