// Text from files in messages.
#pragma once

#include <string>
#include <string_view>

namespace rc {

// True if the bytes are well-formed UTF-8 (no surrogates, no overlong forms).
bool is_utf8(std::string_view bytes);

// The bytes between single quotes, cut after some 80 of them, with control
// characters and what isn't UTF-8 as \xHH: names in hostile files must neither
// flood a message nor garble a terminal.
std::string quote(std::string_view bytes);

}  // namespace rc
