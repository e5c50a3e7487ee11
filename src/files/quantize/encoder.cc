#include "files/quantize/encoder.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstring>
#include <limits>

#include "files/quantize/encoder_list.h"
#include "files/quantize/long_vectors.h"
#include "files/quantize/plain_blocks.h"
#include "tensor/blocks.h"
#include "tensor/half.h"

namespace rc::quantize {
namespace {

constexpr float kLargestF16 = 65504.0f;
constexpr float kLargestNVFP4 = 6.0f * 448.0f;

template <class T, T (*kConvert)(float)>
void encode_plainly(const float* x, const float*, int64_t columns,
                    uint8_t* target) {
  for (int64_t i = 0; i < columns; ++i) {
    const T value = kConvert(x[i]);
    std::memcpy(target + i * static_cast<int64_t>(sizeof(T)), &value,
                sizeof(T));
  }
}

float same(float x) { return x; }

// 1 / scale; 0 where that is not finite.
RC_LANES_INLINE Lanes inverse_or_zero(Lanes scale) {
  const Lanes by = inverse(scale);
  return select(magnitude(by) <= std::numeric_limits<float>::max(), by,
                Lanes{});
}

// Q4_0 and Q5_0: the first element of largest magnitude becomes -kZero, and
// halves are rounded up.
template <class Block, int kZero>
void encode_from_extreme(const float* from, const float*, int64_t columns,
                         uint8_t* target) {
  constexpr int kBytes = sizeof(Block);
  for (int64_t at = 0; at < columns; at += kLanes * kSmallBlock) {
    const PlainBlocks blocks(from + at, (columns - at) / kSmallBlock);
    const Lanes far = extreme(blocks, kSmallBlock);
    const Lanes scale = far / static_cast<float>(-kZero);
    const Lanes by = inverse_or_zero(scale);
    PlainQuants quants;
    for (int i = 0; i < kSmallBlock; ++i) {
      const Lanes shifted =
          blocks.x(i) * by + (static_cast<float>(kZero) + 0.5f);
      quants.numbers[i] = __builtin_convertvector(
          lesser(shifted, all_lanes(2 * kZero - 1)), LaneMask);
    }
    put_scales(scale, blocks.count, kBytes, target + offsetof(Block, scale));
    quants.put_nibbles(blocks.count, kBytes, target + offsetof(Block, quants));
    if constexpr (kZero == 16) {
      quants.put_fifth_bits(blocks.count, kBytes,
                            target + offsetof(Block, high));
    }
    target += blocks.count * kBytes;
  }
}

// Halves are rounded away from zero.
void encode_q8_0(const float* from, const float*, int64_t columns,
                 uint8_t* target) {
  constexpr int kBytes = sizeof(BlockQ8_0);
  for (int64_t at = 0; at < columns; at += kLanes * kSmallBlock) {
    const PlainBlocks blocks(from + at, (columns - at) / kSmallBlock);
    Lanes far = {};
    for (int i = 0; i < kSmallBlock; ++i) {
      far = greater(magnitude(blocks.x(i)), far);  // +0 rather than -0
    }
    const Lanes scale = far / 127.0f;
    const Lanes by = inverse_or_zero(scale);
    for (int i = 0; i < kSmallBlock; i += 4) {
      LaneMask numbers[4];
#pragma GCC unroll 4
      for (int k = 0; k < 4; ++k) {
        const Lanes q = blocks.x(i + k) * by;
        const Lanes size = magnitude(q);
        const LaneMask whole = __builtin_convertvector(size, LaneMask);
        const Lanes twice =
            2.0f * (size - __builtin_convertvector(whole, Lanes));
        const LaneMask near = whole + __builtin_convertvector(twice, LaneMask);
        numbers[k] = select(q < 0.0f, -near, near);
      }
      put_four(numbers[0], numbers[1], numbers[2], numbers[3], blocks.count,
               kBytes, target + offsetof(BlockQ8_0, quants) + i);
    }
    put_scales(scale, blocks.count, kBytes,
               target + offsetof(BlockQ8_0, scale));
    target += blocks.count * kBytes;
  }
}

// Rounded as the package gguf does it, or searched where weights are given.
template <Encoder kRound, DType kType>
void encode_rounded(const float* x, const float* w, int64_t columns,
                    uint8_t* target) {
  static const Encoder search = find_searched_encoder(kType);
  static const Encoder round = best_of<kRound>();
  (w != nullptr ? search : round)(x, w, columns, target);
}

// Returns the bits of the greatest magnitude. Magnitudes are in the order of
// their bits; NaNs come last.
int32_t greatest_bits(const float* x, int64_t count) {
  LaneMask most[4] = {};
  int64_t i = 0;
  for (; i + 4 * kLanes <= count; i += 4 * kLanes) {
#pragma GCC unroll 4
    for (int k = 0; k < 4; ++k) {
      const LaneMask bits =
          reinterpret_cast<LaneMask>(load_lanes(x + i + k * kLanes)) &
          INT32_MAX;
      most[k] = bits > most[k] ? bits : most[k];
    }
  }
  int32_t greatest = 0;
  for (const LaneMask& lanes : most) {
    for (int lane = 0; lane < kLanes; ++lane) {
      greatest = std::max(greatest, lanes[lane]);
    }
  }
  for (; i < count; ++i) {
    greatest = std::max(greatest, std::bit_cast<int32_t>(x[i]) & INT32_MAX);
  }
  return greatest;
}

}  // namespace

bool are_within(const float* elements, int64_t count, float limit) {
  static auto* const find = best_of<greatest_bits>();
  return find(elements, count) <= std::bit_cast<int32_t>(limit);
}

Encoder find_encoder(DType dtype) {
  switch (dtype) {
    case RC_DTYPE_F32:
      return encode_plainly<float, same>;
    case RC_DTYPE_F16:
      return best_of<encode_plainly<uint16_t, f32_to_f16>>();
    case RC_DTYPE_BF16:
      return best_of<encode_plainly<uint16_t, f32_to_bf16>>();
    case RC_DTYPE_Q4_0:
      return encode_rounded<encode_from_extreme<BlockQ4_0, 8>, RC_DTYPE_Q4_0>;
    case RC_DTYPE_Q5_0:
      return encode_rounded<encode_from_extreme<BlockQ5_0, 16>, RC_DTYPE_Q5_0>;
    case RC_DTYPE_Q8_0:
      return encode_rounded<encode_q8_0, RC_DTYPE_Q8_0>;
    default:
      return find_searched_encoder(dtype);
  }
}

float largest_element(DType dtype) {
  return dtype == RC_DTYPE_F32 || dtype == RC_DTYPE_BF16
             ? std::numeric_limits<float>::infinity()
         : dtype == RC_DTYPE_NVFP4 ? kLargestNVFP4
                                   : kLargestF16;
}

}  // namespace rc::quantize
