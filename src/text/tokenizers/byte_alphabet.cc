#include "text/tokenizers/byte_alphabet.h"

#include "base/utf8.h"

namespace rc::text {
namespace {

constexpr char32_t kFirstStandIn = 0x100;

constexpr bool prints(unsigned byte) {
  return (byte >= 0x21 && byte <= 0x7E) || (byte >= 0xA1 && byte != 0xAD);
}

// The bytes that don't print, in order.
struct Hidden {
  std::array<uint8_t, 256> bytes{};
  size_t count = 0;
};
constexpr Hidden kHidden = [] {
  Hidden hidden;
  for (unsigned byte = 0; byte < 256; ++byte) {
    if (!prints(byte))
      hidden.bytes[hidden.count++] = static_cast<uint8_t>(byte);
  }
  return hidden;
}();

}  // namespace

const std::array<std::string, 256>& byte_alphabet() {
  static const std::array<std::string, 256> kAlphabet = [] {
    std::array<std::string, 256> alphabet;
    for (unsigned byte = 0; byte < 256; ++byte) {
      if (prints(byte)) append_utf8(byte, &alphabet[byte]);
    }
    for (size_t i = 0; i < kHidden.count; ++i) {
      append_utf8(kFirstStandIn + static_cast<char32_t>(i),
                  &alphabet[kHidden.bytes[i]]);
    }
    return alphabet;
  }();
  return kAlphabet;
}

std::optional<std::string> bytes_of_piece(std::string_view piece) {
  std::string bytes;
  while (!piece.empty()) {
    const Utf8Char c = decode_utf8(piece);
    if (c.state != Utf8::kValid) return std::nullopt;
    piece.remove_prefix(c.size);
    if (c.code_point < 0x100 && prints(c.code_point)) {
      bytes += static_cast<char>(c.code_point);
    } else if (c.code_point >= kFirstStandIn &&
               c.code_point < kFirstStandIn + kHidden.count) {
      bytes += static_cast<char>(kHidden.bytes[c.code_point - kFirstStandIn]);
    } else {
      return std::nullopt;
    }
  }
  return bytes;
}

}  // namespace rc::text
