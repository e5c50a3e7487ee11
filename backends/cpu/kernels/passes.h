// The number of tiles and rows of a product that are taken at once, and the use
// of their sums.
#pragma once

#include "cpu/kernels/eight_rows.h"
#include "cpu/kernels/simd.h"
#include "cpu/kernels/unpacked.h"

namespace rc::cpu::RC_CPU_LEVEL {

// Rows of activations per pass: as many as accumulators fit into registers.
constexpr int kMaxRows = kParts == 1 ? 8 : 4;
// The same where two tiles share the columns of the activations, which a
// processor would else load as often as it multiplies: 0 where there are too
// few registers. Of few rows, and where they must be unpacked for each, tiles
// come one by one, as they lie in memory.
template <bool halves>
constexpr int kPairRows = kParts > 1              ? 0
                          : kEightRows || !halves ? 8
                                                  : 4;

// Calls some<rows>(first) for all rows of a task, as many at once as there are
// registers for.
template <int most, class Some>
RC_SIMD void by_rows(int rows, Some some) {
  int first = 0;
  for (; first + most <= rows; first += most) {
    some.template operator()<most>(first);
  }
  if constexpr (most > 4) {
    for (; first + 4 <= rows; first += 4) some.template operator()<4>(first);
  }
  for (; first + 2 <= rows; first += 2) some.template operator()<2>(first);
  if (first < rows) some.template operator()<1>(first);
}

// Calls some<tiles, most rows>(tile) for all tiles of a task, two at a time for
// as many rows as `pair`, if that is not 0.
template <int pair, class Some>
RC_SIMD void by_tiles(int tiles, Some some) {
  int tile = 0;
  if constexpr (pair > 0) {
    for (; tile + 2 <= tiles; tile += 2) {
      some.template operator()<2, pair>(tile);
    }
  }
  for (; tile < tiles; ++tile) some.template operator()<1, kMaxRows>(tile);
}

RC_SIMD void finish(const LinearTask& task, int tile, int row, Vf y) {
  const int64_t at = tile * kTileRows;
  const int lanes = task.lanes - tile * kTileRows;
  if (task.bias) y = add(y, load_some(task.bias + at, lanes));
  if (task.residual) y = add(y, load_some(task.residual[row] + at, lanes));
  store_some(task.y[row] + at, y, lanes);
}

// The lines that the rows from `first` on prefetch while they are multiplied
// with tiles as they are, `block` columns at a time. All rows of a pair
// together prefetch the next pair.
template <int tiles, int block>
RC_SIMD Ahead ahead_of(const LinearTask& task, int tile, int first) {
  if constexpr (tiles == 1) {
    return {nullptr, 0, task.prefetch_offset};
  } else {
    // Depends on `tiles`, since it is 0 where there are no pairs.
    constexpr int most = tiles > 1 ? kPairRows<false> : 1;
    const int64_t bytes = tiles * task.tile_bytes;
    const int64_t blocks = task.columns / block + 1;
    const int64_t steps = task.rows / most * blocks;
    const int lines = (int)((bytes / 64 + steps - 1) / steps);
    return {task.tile + tile * task.tile_bytes + bytes + task.prefetch_offset +
                first / most * blocks * lines * 64,
            lines, 0};
  }
}

}  // namespace rc::cpu::RC_CPU_LEVEL
