// Canonical composition (Unicode normalisation form C).
#pragma once

#include <string>
#include <string_view>

namespace rc::text {

// The text in form C; ill-formed parts stay as they are. Runs of more than 64
// combining marks, which no writing system has, are composed in pieces: it
// takes time in proportion to the text.
std::string compose_nfc(std::string_view text);

}  // namespace rc::text
