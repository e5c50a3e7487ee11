// Walking through text that claims to be UTF-8.
//
// Ill-formed parts are counted as Unicode recommends ("maximal subparts"): the
// longest beginning of a well-formed sequence counts as one error, and so does
// every other byte.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace rc {

inline constexpr char32_t kReplacement = 0xFFFD;

enum class Utf8 : uint8_t {
  kValid,
  kInvalid,     // can't become valid, whatever follows
  kIncomplete,  // the text ends within a sequence that may still be completed
};

struct Utf8Char {
  char32_t code_point;  // kReplacement unless kValid
  uint8_t size;         // bytes, at least 1
  Utf8 state;
};

// The character at text[0]; `text` must not be empty.
Utf8Char decode_utf8(std::string_view text);

void append_utf8(char32_t code_point, std::string* out);

// The text with every ill-formed part, an incomplete end too, replaced by
// U+FFFD.
std::string valid_utf8(std::string_view text);

}  // namespace rc
