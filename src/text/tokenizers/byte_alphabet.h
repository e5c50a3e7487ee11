// The alphabet in which byte-level BPE writes bytes in its pieces: each byte is
// one printable character. Bytes that print in Latin-1 stand for themselves,
// the others for the characters from U+0100 on, in order.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace rc::text {

// The character of each byte, as UTF-8.
const std::array<std::string, 256>& byte_alphabet();

// The bytes that a piece stands for; nothing if it has other characters.
std::optional<std::string> bytes_of_piece(std::string_view piece);

}  // namespace rc::text
