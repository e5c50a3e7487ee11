// Products of 16-bit quants: those of weights of F16 and BF16.
//
// Processors multiply two pairs of 16-bit integers in the time of one pair of
// floats. A tile holds, for each 64 columns, a scale for each of its 16 rows
// and then the quants, two columns at a time as dot2 takes them. Scales are
// powers of two: weights of F16 from half of the largest one of their block on,
// and of BF16 from a 16th on, are what they were; smaller ones are rounded, by
// at most 2^-12 of it. Activations are rounded by at most 2^-14 of the largest
// of their block.
#pragma once

#include "cpu/kernels/simd.h"
#include "cpu/kernels/unpacked.h"

namespace rc::cpu::RC_CPU_LEVEL {

struct Quants16 {
  static constexpr int kColumns = kColumns16;
  static constexpr int kScaleBytes = kTileRows * (int)sizeof(float);
  static constexpr int kPairBytes = kTileRows * 2 * (int)sizeof(int16_t);
  static constexpr int kBytes = kScaleBytes + kColumns / 2 * kPairBytes;
  // All products of a block fit into a sum of 32 bits.
  static constexpr int kBits = 12;  // of the largest weight, without its sign
  static constexpr int kLargest = (1 << kBits) - 2;  // of F16, with 11 bits
  static constexpr int kLargestActivation = (1 << 13) - 1;
  static_assert((int64_t)kColumns * kLargest * kLargestActivation < 1ll << 31);
};
static_assert(Quants16::kBytes == kBlockBytes16);

// The factors that make quants of the weights of a block: one for each row.
struct Scales16 {
  Vf scale, inverse;
};
RC_SIMD Scales16 scales16(const Vf& largest_weight) {
  constexpr auto exponent_bits = [](int exponent) {
    return (int32_t)((uint32_t)exponent << 23);
  };
  // From the exponent of the largest weight of a block to that of its scale.
  constexpr int shift = Quants16::kBits - 1;
  // For the scale not to be subnormal: smaller weights are rounded more.
  constexpr int least = shift + 1;
  const Vf power = largest(
      as_float(bits_and(as_int(largest_weight), splat_int(exponent_bits(255)))),
      as_float(splat_int(exponent_bits(least))));
  return {
      as_float(sub(as_int(power), splat_int(exponent_bits(shift)))),
      as_float(sub(splat_int(exponent_bits(2 * 127 + shift)), as_int(power)))};
}

template <class Weight, int tiles, int rows>
RC_SIMD void dot_rows(const uint8_t* tile, int64_t tile_bytes, int64_t columns,
                      const Ahead& ahead,
                      const ActivationBlock16* const (&x)[rows],
                      Vf (&y)[tiles][rows]) {
  for (int64_t at = 0; at < columns / Weight::kColumns; ++at) {
    if constexpr (tiles > 1) ahead.prefetch_step(at);
    Vi sums[tiles][rows];
#pragma GCC unroll 8
    for (int r = 0; r < rows; ++r) {
#pragma GCC unroll 2
      for (int t = 0; t < tiles; ++t) sums[t][r] = splat_int(0);
    }
    const uint8_t* quants = tile + Weight::kScaleBytes;
    const auto add_pair = [&](int column) __attribute__((always_inline)) {
      Vb w[tiles];
#pragma GCC unroll 2
      for (int t = 0; t < tiles; ++t) {
        const uint8_t* from = quants + t * tile_bytes;
        if constexpr (tiles == 1) {
          prefetch_later(from + kPrefetch<rows> + ahead.prefetch_offset);
        }
        w[t] = load_bytes(from);
      }
      quants += Weight::kPairBytes;
#pragma GCC unroll 8
      for (int r = 0; r < rows; ++r) {
        const Columns2 pair = columns2(x[r][at].quants + column);
#pragma GCC unroll 2
        for (int t = 0; t < tiles; ++t) {
          sums[t][r] = dot2(sums[t][r], w[t], pair);
        }
      }
    };
    for (int column = 0; column < Weight::kColumns; column += 8) {
#pragma GCC unroll 4
      for (int i = 0; i < 8; i += 2) add_pair(column + i);
    }
#pragma GCC unroll 2
    for (int t = 0; t < tiles; ++t) {
      const Vf scale = load((const float*)(tile + t * tile_bytes));
#pragma GCC unroll 8
      for (int r = 0; r < rows; ++r) {
        y[t][r] = fma(to_float(sums[t][r]), mul(scale, splat(x[r][at].scale)),
                      y[t][r]);
      }
    }
    tile += Weight::kBytes;
  }
}

}  // namespace rc::cpu::RC_CPU_LEVEL
