#include "base/quote.h"

#include <cstddef>

namespace rc {
namespace {

constexpr size_t kLongestQuote = 80;

// Length of the well-formed sequence that the bytes begin with; 0 if none.
// Table 3-7 of the Unicode Standard.
size_t sequence_length(std::string_view bytes) {
  const auto at = [&](size_t i) {
    return i < bytes.size() ? static_cast<unsigned char>(bytes[i]) : 0u;
  };
  const auto follows = [&](size_t i, unsigned low, unsigned high) {
    return at(i) >= low && at(i) <= high;
  };
  const unsigned lead = at(0);
  if (lead < 0x80) return bytes.empty() ? 0 : 1;
  if (lead < 0xC2 || lead > 0xF4) return 0;
  if (lead < 0xE0) return follows(1, 0x80, 0xBF) ? 2 : 0;
  if (lead < 0xF0) {
    const unsigned low = lead == 0xE0 ? 0xA0 : 0x80;
    const unsigned high = lead == 0xED ? 0x9F : 0xBF;
    return follows(1, low, high) && follows(2, 0x80, 0xBF) ? 3 : 0;
  }
  const unsigned low = lead == 0xF0 ? 0x90 : 0x80;
  const unsigned high = lead == 0xF4 ? 0x8F : 0xBF;
  return follows(1, low, high) && follows(2, 0x80, 0xBF) &&
                 follows(3, 0x80, 0xBF)
             ? 4
             : 0;
}

}  // namespace

bool is_utf8(std::string_view bytes) {
  while (!bytes.empty()) {
    const size_t length = sequence_length(bytes);
    if (length == 0) return false;
    bytes.remove_prefix(length);
  }
  return true;
}

std::string quote(std::string_view bytes) {
  static constexpr char kHex[] = "0123456789abcdef";
  std::string result = "'";
  size_t i = 0;
  while (i < bytes.size() && i < kLongestQuote) {
    const auto c = static_cast<unsigned char>(bytes[i]);
    const size_t length = sequence_length(bytes.substr(i));
    if (length == 0 || c < 0x20 || c == 0x7F) {
      result += {'\\', 'x', kHex[c >> 4], kHex[c & 15]};
      ++i;
    } else {
      result += bytes.substr(i, length);
      i += length;
    }
  }
  return result += i < bytes.size() ? "...'" : "'";
}

}  // namespace rc
