#include "text/grammar/text_decoder.h"

#include <algorithm>

namespace rc::text::grammar {
namespace {

constexpr char32_t kHighSurrogate = kSurrogates;
constexpr char32_t kLowSurrogate = 0xDC00;
constexpr char32_t kSupplementary = 0x10000;
constexpr char32_t kPairSize = 0x400;

char32_t pair_base(char32_t high) {
  return kSupplementary + (high - kHighSurrogate) * kPairSize;
}

int digit_value(uint8_t byte) {
  if (byte >= '0' && byte <= '9') return byte - '0';
  if (byte >= 'a' && byte <= 'f') return byte - 'a' + 10;
  if (byte >= 'A' && byte <= 'F') return byte - 'A' + 10;
  return -1;
}

Decoded complete(char32_t value, PartialChar* partial, char32_t* c) {
  *c = value;
  *partial = PartialChar();
  return Decoded::kChar;
}

Decoded hex_byte(uint8_t byte, PartialChar* partial, char32_t* c) {
  const int digit = digit_value(byte);
  if (digit < 0) return Decoded::kInvalid;
  partial->bits = partial->bits * 16 + static_cast<uint32_t>(digit);
  if (--partial->left > 0) return Decoded::kPartial;
  const char32_t value = partial->bits;
  if (partial->high != 0) {
    if (value < kLowSurrogate || value >= kAfterSurrogates) {
      return Decoded::kInvalid;
    }
    return complete(pair_base(partial->high) + value - kLowSurrogate, partial,
                    c);
  }
  if (value >= kHighSurrogate && value < kLowSurrogate) {
    *partial = {.kind = PartialChar::Kind::kPair,
                .high = static_cast<uint16_t>(value)};
    return Decoded::kPartial;
  }
  if (value >= kLowSurrogate && value < kAfterSurrogates) {
    return Decoded::kInvalid;
  }
  return complete(value, partial, c);
}

Decoded escape_byte(uint8_t byte, PartialChar* partial, char32_t* c) {
  switch (byte) {
    case '"':
    case '\\':
    case '/':
      return complete(byte, partial, c);
    case 'b':
      return complete('\b', partial, c);
    case 'f':
      return complete('\f', partial, c);
    case 'n':
      return complete('\n', partial, c);
    case 'r':
      return complete('\r', partial, c);
    case 't':
      return complete('\t', partial, c);
    case 'u':
      *partial = {.kind = PartialChar::Kind::kHex, .left = 4};
      return Decoded::kPartial;
    default:
      return Decoded::kInvalid;
  }
}

}  // namespace

CharRanges possible_chars(const PartialChar& partial) {
  CharRanges result;
  using Kind = PartialChar::Kind;
  switch (partial.kind) {
    case Kind::kNone:
    case Kind::kEscape:
      result.ranges[0] = {0, kMaxCodePoint};
      break;
    case Kind::kPair:
    case Kind::kPairEscape: {
      const char32_t base = pair_base(partial.high);
      result.ranges[0] = {base, base + kPairSize - 1};
      break;
    }
    case Kind::kUtf8: {
      const uint32_t shift = 6 * partial.left;
      const char32_t low = partial.bits << shift;
      result.ranges[0] = {
          std::max<char32_t>(low, partial.least),
          std::min<char32_t>(low + (1U << shift) - 1, kMaxCodePoint)};
      break;
    }
    case Kind::kHex: {
      const uint32_t shift = 4 * partial.left;
      const char32_t low = partial.bits << shift;
      const char32_t high = low + (1U << shift) - 1;
      if (partial.high != 0) {
        const char32_t base = pair_base(partial.high);
        const char32_t first = std::max(low, kLowSurrogate);
        const char32_t last = std::min<char32_t>(high, kAfterSurrogates - 1);
        if (first <= last) {
          result.ranges[0] = {base + first - kLowSurrogate,
                              base + last - kLowSurrogate};
        }
        break;
      }
      result.ranges[0] = {low, high};  // a lexer has no surrogates
      const char32_t first = std::max(low, kHighSurrogate);
      const char32_t last = std::min<char32_t>(high, kLowSurrogate - 1);
      if (first <= last) {
        result.ranges[1] = {pair_base(first), pair_base(last) + kPairSize - 1};
      }
      break;
    }
  }
  return result;
}

Decoded decode_utf8_byte(uint8_t byte, PartialChar* partial, char32_t* c) {
  if (partial->none()) {
    if (byte < 0x80) return complete(byte, partial, c);
    partial->kind = PartialChar::Kind::kUtf8;
    if (byte >= 0xC2 && byte <= 0xDF) {
      partial->left = 1;
      partial->bits = byte & 0x1FU;
      partial->least = 0x80;
    } else if (byte >= 0xE0 && byte <= 0xEF) {
      partial->left = 2;
      partial->bits = byte & 0x0FU;
      partial->least = 0x800;
    } else if (byte >= 0xF0 && byte <= 0xF4) {
      partial->left = 3;
      partial->bits = byte & 0x07U;
      partial->least = 0x10000;
    } else {
      return Decoded::kInvalid;
    }
    return Decoded::kPartial;
  }
  if ((byte & 0xC0U) != 0x80) return Decoded::kInvalid;
  partial->bits = partial->bits << 6 | (byte & 0x3FU);
  --partial->left;
  const CharRanges::Range range = possible_chars(*partial).ranges[0];
  if (range.low > range.high ||
      (range.low >= kHighSurrogate && range.high < kAfterSurrogates)) {
    return Decoded::kInvalid;
  }
  if (partial->left > 0) return Decoded::kPartial;
  return complete(partial->bits, partial, c);
}

Decoded decode_string_byte(uint8_t byte, PartialChar* partial, char32_t* c) {
  using Kind = PartialChar::Kind;
  switch (partial->kind) {
    case Kind::kNone:
      if (byte < 0x20) return Decoded::kInvalid;
      if (byte == '\\') {
        partial->kind = Kind::kEscape;
        return Decoded::kPartial;
      }
      return decode_utf8_byte(byte, partial, c);
    case Kind::kUtf8:
      return decode_utf8_byte(byte, partial, c);
    case Kind::kEscape:
      return escape_byte(byte, partial, c);
    case Kind::kHex:
      return hex_byte(byte, partial, c);
    case Kind::kPair:
      if (byte != '\\') return Decoded::kInvalid;
      partial->kind = Kind::kPairEscape;
      return Decoded::kPartial;
    case Kind::kPairEscape:
      if (byte != 'u') return Decoded::kInvalid;
      partial->kind = Kind::kHex;
      partial->left = 4;
      partial->bits = 0;
      return Decoded::kPartial;
  }
  return Decoded::kInvalid;
}

}  // namespace rc::text::grammar
