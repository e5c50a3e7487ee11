#include "base/quote.h"

#include <cstddef>

#include "base/utf8.h"

namespace rc {
namespace {

constexpr size_t kLongestQuote = 80;

}  // namespace

bool is_utf8(std::string_view bytes) {
  while (!bytes.empty()) {
    const Utf8Char c = decode_utf8(bytes);
    if (c.state != Utf8::kValid) return false;
    bytes.remove_prefix(c.size);
  }
  return true;
}

std::string quote(std::string_view bytes) {
  static constexpr char kHex[] = "0123456789abcdef";
  std::string result = "'";
  size_t i = 0;
  while (i < bytes.size() && i < kLongestQuote) {
    const auto c = static_cast<unsigned char>(bytes[i]);
    const Utf8Char next = decode_utf8(bytes.substr(i));
    if (next.state != Utf8::kValid || c < 0x20 || c == 0x7F) {
      result += {'\\', 'x', kHex[c >> 4], kHex[c & 15]};
      ++i;
    } else {
      result += bytes.substr(i, next.size);
      i += next.size;
    }
  }
  return result += i < bytes.size() ? "...'" : "'";
}

}  // namespace rc
