// The tokens that masks are about.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace rc::text::grammar {

// The text of each token as bytes, by id. Special tokens have none (""): they
// are never part of a text. End tokens end it where it may end.
struct TokenVocabulary {
  std::string name;  // of where they come from, for messages
  std::vector<std::string> tokens;
  std::vector<int32_t> ends;
};

}  // namespace rc::text::grammar
