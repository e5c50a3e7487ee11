// From bytes to the characters of a lexer, with UTF-8 and the escapes of JSON
// strings undone.
#pragma once

#include <array>
#include <cstdint>

#include "text/grammar/lexer.h"

namespace rc::text::grammar {

// A character that is not complete yet.
struct PartialChar {
  enum class Kind : uint8_t {
    kNone,
    kUtf8,        // `left` bytes are missing
    kEscape,      // after a backslash
    kHex,         // after \u, `left` digits are missing
    kPair,        // after an escaped high surrogate: a backslash has to follow
    kPairEscape,  // and after that an u
  };
  Kind kind = Kind::kNone;
  uint8_t left = 0;
  uint16_t high = 0;   // the high surrogate before, or 0
  uint32_t bits = 0;   // so far
  uint32_t least = 0;  // of kUtf8: lower values would be overlong

  bool none() const { return kind == Kind::kNone; }
  bool operator==(const PartialChar&) const = default;
};

// Two ranges of characters, of which either may be empty (low above high).
struct CharRanges {
  struct Range {
    char32_t low = 1;
    char32_t high = 0;
  };
  std::array<Range, 2> ranges;
};

// Returns the characters that it may become.
CharRanges possible_chars(const PartialChar& partial);

enum class Decoded : uint8_t { kInvalid, kPartial, kChar };

// One more byte of UTF-8; on kChar the character is in *c.
Decoded decode_utf8_byte(uint8_t byte, PartialChar* partial, char32_t* c);
// One more byte within a JSON string; the quote is not for it.
Decoded decode_string_byte(uint8_t byte, PartialChar* partial, char32_t* c);

// Whether the lexer can go on with what the character may become.
inline bool can_complete(Lexer* lexer, LexState state,
                         const PartialChar& partial) {
  const CharRanges possible = possible_chars(partial);
  for (const CharRanges::Range& range : possible.ranges) {
    if (range.low <= range.high &&
        lexer->can_step(state, range.low, range.high)) {
      return true;
    }
  }
  return false;
}

}  // namespace rc::text::grammar
