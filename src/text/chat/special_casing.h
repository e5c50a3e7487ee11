// Characters whose upper, title or folded case is more than one character
// (Unicode's SpecialCasing.txt and CaseFolding.txt), which utf8proc's functions
// for single characters leave out.
#pragma once

namespace rc::text::chat {

struct SpecialCase {
  char32_t from;
  const char* upper;
  const char* title;
  const char* folded;
};

// nullptr if the character's cases are single characters.
const SpecialCase* find_special_case(char32_t c);

}  // namespace rc::text::chat
