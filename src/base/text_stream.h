// Text read word by word and line by line.
#pragma once

#include <locale>
#include <sstream>
#include <string>
#include <utility>

namespace rc {

// A stream over the text that lets std::bad_alloc through, where others swallow
// it and give a part for the whole, and that reads numbers the same way
// whatever the program's locale is.
inline std::istringstream text_stream(std::string text) {
  std::istringstream stream(std::move(text));
  stream.exceptions(std::ios_base::badbit);
  stream.imbue(std::locale::classic());
  return stream;
}

}  // namespace rc
