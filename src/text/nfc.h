// The normalisation forms of Unicode.
#pragma once

#include <string>
#include <string_view>

namespace rc::text {

enum class NormalForm { kC, kD, kKC, kKD };

// The text in a normalisation form; ill-formed parts stay as they are. Takes
// time n log n in the size of the text at most, for runs of combining marks.
std::string normalize(std::string_view text, NormalForm form);

inline std::string compose_nfc(std::string_view text) {
  return normalize(text, NormalForm::kC);
}

}  // namespace rc::text
