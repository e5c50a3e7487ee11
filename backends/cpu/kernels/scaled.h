// From integer products to sums of floats: what is the same however the
// products were made.
#pragma once

#include "cpu/kernels/formats.h"

namespace rc::cpu::RC_CPU_LEVEL {

// Scales per 32 columns, and hence integer products.
template <class Format>
constexpr int kScales = Format::kHalves ? 2 : 1;

// Whether sums of products are made from kUnit on, so that as bits of a float
// they are kUnit plus themselves: they become floats and are scaled by one
// multiplication and addition. Its result is that of a conversion and a
// product: scales have few enough bits for kUnit times a scale to be exact, and
// the sums are below 2^22. Not where they begin elsewhere, which would take an
// addition.
template <class Format>
constexpr bool kFromUnit =
    kParts == 1 && !Format::kHalves && !Format::kWide && Format::kOffset == 0;
constexpr float kUnit = 12582912.0f;  // 1.5 * 2^23, whose last bit is 1
constexpr int32_t kUnitBits = 0x4B400000;

// Where the products of a row begin: at minus the offset times its quants.
template <class Format>
RC_SIMD Vi start(const ActivationBlock& x, int half) {
  constexpr int offset =
      Format::kWide ? (Format::kOffset + kWideOffset - 128) : Format::kOffset;
  static_assert((offset & (offset - 1)) == 0);
  if constexpr (offset == 0) {
    return splat_int(kFromUnit<Format> ? kUnitBits : 0);
  } else {
    return shl<__builtin_ctz(offset)>(
        splat_int(Format::kHalves ? x.minus_halves[half] : x.minus_sum));
  }
}

// Adds the products of step j, which product(half, tile, row) gives, times the
// scales of both sides, to the sums y.
template <class Format, int tiles, int rows, class Product>
RC_SIMD void add_scaled(const Format (&format)[2], int j,
                        const ActivationBlock* const (&x)[rows], int64_t at,
                        Vf (&y)[tiles][rows], Product product) {
#pragma GCC unroll 2
  for (int t = 0; t < tiles; ++t) {
    if constexpr (Format::kHalves) {
      const Vf scale_a = format[t].scale(j, 0);
      const Vf scale_b = format[t].scale(j, 1);
#pragma GCC unroll 8
      for (int r = 0; r < rows; ++r) {
        const Vf sum = fma(to_float(product(1, t, r)), scale_b,
                           mul(to_float(product(0, t, r)), scale_a));
        y[t][r] = fma(sum, splat(x[r][at].scale), y[t][r]);
      }
      if constexpr (Format::kMinimum) {
        const Vf minimum_a = format[t].minimum(j, 0);
        const Vf minimum_b = format[t].minimum(j, 1);
#pragma GCC unroll 8
        for (int r = 0; r < rows; ++r) {
          y[t][r] =
              fnma(minimum_a, splat(x[r][at].weighted_halves[0]), y[t][r]);
          y[t][r] =
              fnma(minimum_b, splat(x[r][at].weighted_halves[1]), y[t][r]);
        }
      }
    } else {
      const Vf scale = format[t].scale(j, 0);
      [[maybe_unused]] const Vf minus_unit = mul(scale, splat(-kUnit));
#pragma GCC unroll 8
      for (int r = 0; r < rows; ++r) {
        Vf sum;
        if constexpr (kFromUnit<Format>) {
          sum = fma(as_float(product(0, t, r)), scale, minus_unit);
        } else {
          sum = mul(to_float(product(0, t, r)), scale);
        }
        y[t][r] = fma(sum, splat(x[r][at].scale), y[t][r]);
      }
      if constexpr (Format::kMinimum) {
        const Vf minimum = format[t].minimum(j, 0);
#pragma GCC unroll 8
        for (int r = 0; r < rows; ++r) {
          y[t][r] = fnma(minimum, splat(x[r][at].weighted_sum), y[t][r]);
        }
      }
    }
  }
}

}  // namespace rc::cpu::RC_CPU_LEVEL
