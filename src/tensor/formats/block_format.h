// How a quantized type is described: where a block has its numbers, and what
// they mean. formats.h describes every type; unpack.h reads blocks by that.
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
// table.
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

// Integers of the bits of one or two planes, those of `high` above the others.
struct BitNumber {
  BitPlane low = {};
  BitPlane high = {};
  bool is_signed = false;  // in two's complement, of 8 bits
  int zero = 0;            // subtracted
};

enum class ScaleKind : uint8_t { kF16, kF32, kPowerOfTwo };

struct Scale {
  int at = 0;
  // kPowerOfTwo is a byte e that stands for 2^(e - 128).
  ScaleKind kind = ScaleKind::kF16;
};

// A binary16.
struct Minimum {
  enum Sign : int8_t { kNone = 0, kSubtracted = 1, kAdded = -1 };
  Sign sign = kNone;
  int at = 0;
};

// What four bits stand for, in types that have a table.
enum class ValueTable : uint8_t { kNone, kIQ4, kE2M1 };

struct BlockFormat {
  rc_dtype dtype;
  const char* name;
  int elements;  // per block
  int bytes;
  BitNumber quant;  // of each element
  ValueTable table = ValueTable::kNone;
  Scale scale = {};
  Minimum minimum = {};
  int group = 0;                // elements that share factors; 0: none has any
  BitNumber scale_factor = {};  // of each group
  BitNumber minimum_factor = {};
  // What other programs quantize activations to. Weights are not stored so.
  bool of_activations = false;
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

// How many numbers from the first on have all their bits side by side in one
// byte, `low.stride` at most: they can be read at once.
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
