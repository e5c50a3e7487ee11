// Integer products of two rows of activations at a time, for levels that
// multiply small matrices. Integers are exact: the sums are those of dot8.
#pragma once

#include "cpu/kernels/formats.h"

namespace rc::cpu::RC_CPU_LEVEL {

#if defined(__ARM_FEATURE_MATMUL_INT8)

constexpr bool kTwoRows = true;

// Adds the products of groups 2 first to 2 (first + pairs) - 1 of step j to
// the sums of an even number of rows.
template <class Format, int rows, int first, int pairs>
RC_SIMD void dot_two_rows(const Format& format, int j,
                          const ActivationBlock* const (&x)[rows], int64_t at,
                          Vi (&y)[rows]) {
  const auto one = [&](const Pair& pair, int h) __attribute__((always_inline)) {
#pragma GCC unroll 4
    for (int r = 0; r < rows; r += 2) {
      const TwoColumns columns =
          columns8(x[r][at].quants + 8 * h, x[r + 1][at].quants + 8 * h);
      RC_PARTS(i) {
        dot8_two<Format::kWide>(y[r].p[i], y[r + 1].p[i], pair.first.p[i],
                                pair.second.p[i], columns);
      }
    }
  };
#pragma GCC unroll 4
  for (int r = 0; r < rows; r += 2) {
    RC_PARTS(i) i_pair(y[r].p[i], y[r + 1].p[i]);
  }
  one(format.template pair<first>(j), first);
  one(format.template pair<first + 1>(j), first + 1);
  if constexpr (pairs == 4) {
    one(format.template pair<first + 2>(j), first + 2);
    one(format.template pair<first + 3>(j), first + 3);
  }
#pragma GCC unroll 4
  for (int r = 0; r < rows; r += 2) {
    RC_PARTS(i) i_apart(y[r].p[i], y[r + 1].p[i]);
  }
}

#else

constexpr bool kTwoRows = false;
template <class Format, int rows, int first, int pairs>
void dot_two_rows(const Format&, int, const ActivationBlock* const (&)[rows],
                  int64_t, Vi (&)[rows]);

#endif

}  // namespace rc::cpu::RC_CPU_LEVEL
