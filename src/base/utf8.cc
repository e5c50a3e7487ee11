#include "base/utf8.h"

namespace rc {

Utf8Char decode_utf8(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<uint8_t>(text[i]); };
  const uint8_t lead = byte(0);
  if (lead < 0x80) return {lead, 1, Utf8::kValid};
  // The range of the second byte excludes overlong forms, surrogates and
  // values past U+10FFFF (Unicode, table 3-7).
  size_t size = 0;
  uint8_t low = 0x80, high = 0xBF;
  if (lead >= 0xC2 && lead <= 0xDF) {
    size = 2;
  } else if (lead >= 0xE0 && lead <= 0xEF) {
    size = 3;
    if (lead == 0xE0) low = 0xA0;
    if (lead == 0xED) high = 0x9F;
  } else if (lead >= 0xF0 && lead <= 0xF4) {
    size = 4;
    if (lead == 0xF0) low = 0x90;
    if (lead == 0xF4) high = 0x8F;
  } else {
    return {kReplacement, 1, Utf8::kInvalid};
  }
  char32_t code_point = lead & (0xFF >> (size + 1));
  for (size_t i = 1; i < size; ++i) {
    const auto taken = static_cast<uint8_t>(i);
    if (i == text.size()) return {kReplacement, taken, Utf8::kIncomplete};
    if (byte(i) < low || byte(i) > high) {
      return {kReplacement, taken, Utf8::kInvalid};
    }
    code_point = code_point << 6 | (byte(i) & 0x3F);
    low = 0x80;
    high = 0xBF;
  }
  return {code_point, static_cast<uint8_t>(size), Utf8::kValid};
}

void append_utf8(char32_t c, std::string* out) {
  const auto put = [&](char32_t value) {
    out->push_back(static_cast<char>(value));
  };
  const auto tail = [&](int shift) { put(0x80 | (c >> shift & 0x3F)); };
  if (c < 0x80) {
    put(c);
  } else if (c < 0x800) {
    put(0xC0 | c >> 6);
    tail(0);
  } else if (c < 0x10000) {
    put(0xE0 | c >> 12);
    tail(6);
    tail(0);
  } else {
    put(0xF0 | c >> 18);
    tail(12);
    tail(6);
    tail(0);
  }
}

std::string valid_utf8(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const Utf8Char c = decode_utf8(text);
    if (c.state == Utf8::kValid) {
      out.append(text.substr(0, c.size));
    } else {
      append_utf8(kReplacement, &out);
    }
    text.remove_prefix(c.size);
  }
  return out;
}

}  // namespace rc
