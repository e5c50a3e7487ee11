// SentencePiece models made by hand, field by field (protocol buffers).
#pragma once

#include <bit>
#include <cstdint>
#include <string>

namespace rc::sentencepiece::test {

inline std::string number(uint64_t value) {
  std::string bytes;
  for (; value >= 0x80; value >>= 7) {
    bytes += static_cast<char>(value | 0x80);
  }
  return bytes + static_cast<char>(value);
}

inline std::string text(uint32_t field, const std::string& bytes) {
  return number(field << 3 | 2) + number(bytes.size()) + bytes;
}

inline std::string flag(uint32_t field, uint64_t value) {
  return number(field << 3) + number(value);
}

inline std::string piece(const std::string& name, float score, int type) {
  const auto bits = std::bit_cast<uint32_t>(score);
  std::string inner = text(1, name) + number(2 << 3 | 5);
  for (int i = 0; i < 4; ++i) inner += static_cast<char>(bits >> 8 * i);
  return text(1, inner + flag(3, static_cast<uint64_t>(type)));
}

}  // namespace rc::sentencepiece::test
