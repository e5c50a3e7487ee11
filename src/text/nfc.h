// The normalisation forms of Unicode.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace rc::text {

enum class NormalForm { kC, kD, kKC, kKD };

// The text in a normalisation form; ill-formed parts stay as they are. Takes
// time n log n in the size of the text at most, for runs of combining marks.
std::string normalize(std::string_view text, NormalForm form);

// The most bytes of a text that become one by canonical composition. By the
// data of Unicode 15 it is 3.5, for U+1FBE U+0308 U+0301 becomes U+0390; the
// rest is a reserve for later versions.
inline constexpr size_t kMostComposed = 8;

inline std::string compose_nfc(std::string_view text) {
  return normalize(text, NormalForm::kC);
}

}  // namespace rc::text
