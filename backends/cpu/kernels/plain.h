// Products with float weights, and how kernels read these.
#pragma once

#include "cpu/kernels/formats.h"
#include "cpu/kernels/simd.h"
#include "cpu/kernels/unpacked.h"

namespace rc::cpu::RC_CPU_LEVEL {

// Float weights: column after column, 16 elements at a time.
struct PlainF32 {
  static constexpr int kBytes = 64;
  static RC_SIMD_MEMBER Vf column(const uint8_t* p) {
    return load((const float*)p);
  }
};
struct PlainF16 {
  static constexpr int kBytes = 32;
  static RC_SIMD_MEMBER Vf column(const uint8_t* p) { return load_f16(p); }
};
struct PlainBF16 {
  static constexpr int kBytes = 32;
  static RC_SIMD_MEMBER Vf column(const uint8_t* p) { return load_bf16(p); }
};

// Adds the products of columns with x(row, column). Sums of `block` columns are
// added up: more exact than one long sum, and those of few rows do not wait for
// each other.
template <class Plain, int block, int tiles, int rows, class X>
RC_SIMD void dot_floats(const uint8_t* tile, int64_t tile_bytes,
                        int64_t columns, const Ahead& ahead, const X& x,
                        Vf (&y)[tiles][rows]) {
  const auto add_column = [&](int64_t column, Vf(&sums)[tiles][rows])
      __attribute__((always_inline)) {
    Vf w[tiles];
#pragma GCC unroll 2
    for (int t = 0; t < tiles; ++t) {
      const uint8_t* at = tile + t * tile_bytes;
      if constexpr (tiles == 1) {
        prefetch_later(at + kPrefetch<rows> + ahead.prefetch_offset);
      }
      w[t] = Plain::column(at);
    }
    tile += Plain::kBytes;
#pragma GCC unroll 8
    for (int r = 0; r < rows; ++r) {
      const Vf number = splat(x(r, column));
#pragma GCC unroll 2
      for (int t = 0; t < tiles; ++t) {
        sums[t][r] = fma(w[t], number, sums[t][r]);
      }
    }
  };
  int64_t column = 0;
  while (column < columns) {
    Vf sums[tiles][rows];
#pragma GCC unroll 8
    for (int r = 0; r < rows; ++r) {
#pragma GCC unroll 2
      for (int t = 0; t < tiles; ++t) sums[t][r] = splat(0);
    }
    if (column + block <= columns) {
      if constexpr (tiles > 1) ahead.prefetch_step(column / block);
      // A loop of a known length ends without the processor being surprised.
      for (const int64_t end = column + block; column < end; column += 4) {
#pragma GCC unroll 4
        for (int i = 0; i < 4; ++i) add_column(column + i, sums);
      }
    } else {
      for (; column < columns; ++column) add_column(column, sums);
    }
#pragma GCC unroll 8
    for (int r = 0; r < rows; ++r) {
#pragma GCC unroll 2
      for (int t = 0; t < tiles; ++t) y[t][r] = add(y[t][r], sums[t][r]);
    }
  }
}

}  // namespace rc::cpu::RC_CPU_LEVEL
