// The description of a quantized type: the places of the numbers in a block,
// and their meaning. formats.h describes every type; unpack.h reads blocks by
// that.
//
// A block holds `elements` numbers in `bytes` bytes, little-endian, without
// padding, at any address. An element is
//
//   (scale * scale_factor) * (quant - zero) - (minimum * minimum_factor)
//
// where each product and the difference are rounded to f32 once. The factors
// are small integers, one for every `group` elements; without them it is
// scale * (quant - zero) - minimum, and without a minimum nothing is
// subtracted. In place of quant - zero the type may have the entry `quant` of a
// table. Types that pack several elements into one code are not said so:
// coded_format.h describes them, and into which of these formats they expand.
#pragma once

#include <cstdint>

#include "runcible/types.h"

namespace rc {

// Numbers of a few bits each. A byte holds 8 / width of them: number k and
// those that follow it at distances of `stride`, the earlier in the lower bits.
// So `stride` bytes hold the first stride * 8 / width numbers, and so on.
struct BitPlane {
  int at = 0;      // the first byte of them within the block
  int width = 0;   // 1, 2, 4 or 8; 0 if there is no such plane
  int stride = 1;  // a power of two

  // Which of these numbers belong to what is described: the first `stride` from
  // number `first` on, then as many from `step` numbers further on, and so on.
  int first = 0;
  int step = 0;  // 0 is `stride`: one after the other
};

// The meaning of the bits of a factor. kOdd: n is 2 n + 1. kE4M3: a byte is a
// float of four bits of exponent and three of mantissa, without sign and NaN,
// in units of 2^-9, of which all are whole numbers below 2^18 (FP8 E4M3 of OCP
// Microscaling Formats 1.0).
enum class BitKind : uint8_t { kInteger, kOdd, kE4M3 };

// Integers of the bits of one or two planes, those of `high` above the others.
struct BitNumber {
  BitPlane low = {};
  BitPlane high = {};
  bool is_signed = false;  // in two's complement, of 8 bits
  int zero = 0;            // subtracted
  BitKind kind = BitKind::kInteger;
};

enum class ScaleKind : uint8_t { kF16, kF32, kPowerOfTwo, kOne };

struct Scale {
  int at = 0;
  // kPowerOfTwo is a byte e that stands for 2^(e - 128). kOne is no number of
  // the block.
  ScaleKind kind = ScaleKind::kF16;
  int exponent = 0;  // times 2^exponent, with which it stays exact
};

// A binary16.
struct Minimum {
  enum Sign : int8_t { kNone = 0, kSubtracted = 1, kAdded = -1 };
  Sign sign = kNone;
  int at = 0;
};

// The meaning of up to four bits, in types that have a table.
enum class ValueTable : uint8_t {
  kNone,
  kIQ4,
  kE2M1,
  kIQ2,
  kIQ1,
  kIQ3XXS,
  kIQ3S,
  kSigns
};

struct BlockFormat {
  rc_dtype dtype;
  const char* name;
  int elements;  // per block
  int bytes;
  BitNumber quant;  // of each element
  // Elements, from a multiple of this on, whose bits of quant.high are alike.
  int high_run = 1;
  ValueTable table = ValueTable::kNone;
  Scale scale = {};
  Minimum minimum = {};
  int group = 0;                // elements that share factors; 0: none has any
  BitNumber scale_factor = {};  // of each group
  BitNumber minimum_factor = {};
  // The type to which other programs quantize activations. Weights are not
  // stored so.
  bool of_activations = false;
  // Only what coded types expand into: no file and no tensor has it.
  bool is_expanded = false;
};

// Whether all numbers of a plane are described, one after the other.
constexpr bool is_unbroken(const BitPlane& plane) {
  return plane.first == 0 && (plane.step == 0 || plane.step == plane.stride);
}

// Where number `i` of those that are described lies.
struct BitPlace {
  int byte;   // of the block
  int shift;  // of the lowest bit
};

constexpr BitPlace place_of(const BitPlane& plane, int i) {
  const int step = plane.step != 0 ? plane.step : plane.stride;
  const int number = plane.first + i % plane.stride + i / plane.stride * step;
  const int slots = 8 / plane.width;
  return {plane.at + number / (slots * plane.stride) * plane.stride +
              number % plane.stride,
          number / plane.stride % slots * plane.width};
}

constexpr int width_of(const BitNumber& number) {
  return number.low.width + number.high.width;
}

// Bytes of a block that has the bits that elements share once.
constexpr int bytes_without_copies(const BlockFormat& format) {
  const int bits = format.elements * format.quant.high.width;
  return format.bytes - (bits - bits / format.high_run) / 8;
}

// The whole number that a byte of BitKind::kE4M3 stands for.
constexpr int e4m3(uint8_t bits) {
  const int exponent = bits >> 3 & 15;
  const int mantissa = bits & 7;
  return exponent == 0 ? mantissa : (mantissa | 8) << (exponent - 1);
}

// 2^exponent, of a normal number.
constexpr float power(int exponent) {
  float value = 1;
  for (; exponent > 0; --exponent) value *= 2;
  for (; exponent < 0; ++exponent) value /= 2;
  return value;
}

// Returns the number of first numbers that have all their bits side by side in
// one byte, `low.stride` at most: they can be read at once.
constexpr int undivided(const BitNumber& number) {
  if (number.low.width == 0 || number.high.width == 0) return 0;
  for (int i = 0; i < number.low.stride; ++i) {
    const BitPlace low = place_of(number.low, i);
    const BitPlace high = place_of(number.high, i);
    if (low.byte != high.byte || low.shift + number.low.width != high.shift) {
      return i;
    }
  }
  return number.low.stride;
}

}  // namespace rc
