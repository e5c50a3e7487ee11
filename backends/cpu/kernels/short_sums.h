// Integer products in sums of 16 bits, for levels that multiply bytes into
// such: as many are added up as fit, before they become sums of 32 bits.
// Integers are exact: the sums are those of dot8.
#pragma once

#include "cpu/kernels/formats.h"

namespace rc::cpu::RC_CPU_LEVEL {

#if defined(__wasm_relaxed_simd__)

constexpr bool kShortSums = true;

// Pairs of groups whose products fit: two products of a quant and an
// activation, which is 127 at most, for each of the two groups.
template <class Format>
constexpr int kPairsPerSum = Format::kLargest <= 15   ? 4
                             : Format::kLargest <= 31 ? 2
                                                      : 1;
static_assert(4 * 2 * 2 * 15 * 127 < 1 << 15);
static_assert(2 * 2 * 2 * 31 * 127 < 1 << 15);
static_assert(2 * 2 * 63 * 127 < 1 << 15);

// Adds the products of groups 2 first to 2 (first + pairs) - 1 of step j.
template <class Format, int tiles, int rows, int first, int pairs>
RC_SIMD void dot_short(const Format (&format)[2], int j,
                       const ActivationBlock* const (&x)[rows], int64_t at,
                       Vi (&y)[tiles][rows]) {
  v128_t sums[tiles][rows][kParts];
  const auto one = [&]<int h>() __attribute__((always_inline)) {
    constexpr int place = (h - first) % kPairsPerSum<Format>;
    constexpr bool last =
        place == kPairsPerSum<Format> - 1 || h == first + pairs - 1;
    const Pair pairs_of[2] = {format[0].template pair<h>(j),
                              format[tiles - 1].template pair<h>(j)};
#pragma GCC unroll 8
    for (int r = 0; r < rows; ++r) {
      const Columns columns = columns8(x[r][at].quants + 8 * h);
#pragma GCC unroll 2
      for (int t = 0; t < tiles; ++t) {
        RC_PARTS(i) {
          v128_t& sum = sums[t][r][i];
          const v128_t a = dot4_short(pairs_of[t].first.p[i], columns.low);
          const v128_t b = dot4_short(pairs_of[t].second.p[i], columns.high);
          sum = place == 0 ? a : wasm_i16x8_add(sum, a);
          sum = wasm_i16x8_add(sum, b);
          if constexpr (last) {
            y[t][r].p[i] =
                i_add(y[t][r].p[i], wasm_i32x4_extadd_pairwise_i16x8(sum));
          }
        }
      }
    }
  };
  one.template operator()<first>();
  one.template operator()<first + 1>();
  if constexpr (pairs == 4) {
    one.template operator()<first + 2>();
    one.template operator()<first + 3>();
  }
}

#else

constexpr bool kShortSums = false;
template <class Format>
constexpr int kPairsPerSum = 0;
template <class Format, int tiles, int rows, int first, int pairs>
void dot_short(const Format (&)[2], int, const ActivationBlock* const (&)[rows],
               int64_t, Vi (&)[tiles][rows]);

#endif

}  // namespace rc::cpu::RC_CPU_LEVEL
