// The tokens that masks are about.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace rc::text::grammar {

// Around the names of special tokens in texts that they divide; in no UTF-8.
inline constexpr char kSpecialMark = '\xFF';

// The text of each token as bytes, by id. Special tokens have none (""), for
// they are never part of a text; or, where `names_special`, their names between
// two of the above. End tokens end a text where it may end.
struct TokenVocabulary {
  std::string name;  // of where they come from, for messages
  std::vector<std::string> tokens;
  std::vector<int32_t> ends;
  bool names_special = false;
};

}  // namespace rc::text::grammar
