// Products of F32 tensors of which one side is packed as tiles of 16 columns.
#include "cpu/kernels/levels.h"
#include "cpu/kernels/passes.h"
#include "cpu/kernels/plain.h"

namespace rc::cpu::RC_CPU_LEVEL {
namespace {

// x(r, column) is that of row first + r.
template <int tiles, int rows, class X>
RC_SIMD void some_products(const LinearTask& task, int tile, int first,
                           const X& x) {
  Vf y[tiles][rows];
#pragma GCC unroll 8
  for (int r = 0; r < rows; ++r) {
#pragma GCC unroll 2
    for (int t = 0; t < tiles; ++t) y[t][r] = splat(0);
  }
  dot_floats<PlainF32, kSumBlock>(
      task.tile + tile * task.tile_bytes, task.tile_bytes, task.columns,
      ahead_of<tiles, kSumBlock>(task, tile, first), x, y);
#pragma GCC unroll 2
  for (int t = 0; t < tiles; ++t) {
    for (int r = 0; r < rows; ++r) finish(task, tile + t, first + r, y[t][r]);
  }
}

template <int tiles, int rows>
void some_rows(const LinearTask& task, int tile, int first) {
  const float* x[rows];
#pragma GCC unroll 8
  for (int r = 0; r < rows; ++r) x[r] = (const float*)task.x[first + r];
  const auto number = [&](int r, int64_t column)
      __attribute__((always_inline)) {
    return x[r][column];
  };
  some_products<tiles, rows>(task, tile, first, number);
}

template <int tiles, int rows>
void some_rows_across(const LinearTask& task, int tile, int first) {
  const float* x = task.across + first;
  const int64_t step = task.across_step;
  const auto number = [&](int r, int64_t column)
      __attribute__((always_inline)) {
    return x[column * step + r];
  };
  some_products<tiles, rows>(task, tile, first, number);
}

template <int pair>
void by_pairs(const LinearTask& task) {
  by_tiles<pair>(task.tiles, [&]<int tiles, int most>(int tile) {
    by_rows<most>(task.rows, [&]<int rows>(int first) {
      if (task.across != nullptr) {
        some_rows_across<tiles, rows>(task, tile, first);
      } else {
        some_rows<tiles, rows>(task, tile, first);
      }
    });
  });
}

}  // namespace

void product_of_tiles(const LinearTask& task) {
  constexpr int pair = kPairRows<false>;
  if (task.rows < pair) return by_pairs<0>(task);
  by_pairs<pair>(task);
}

}  // namespace rc::cpu::RC_CPU_LEVEL
