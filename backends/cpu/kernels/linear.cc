// Products of activations with tiles of 16 rows of a weight.
//
// Each output element is summed in one order: 32 (or, with scales for 16
// columns, 16) columns as integers, then block after block in floats. It does
// not matter how many rows of activations the call has, so one row of a decode
// step and the same row in a prompt give the same bits.
#include "cpu/kernels/eight_rows.h"
#include "cpu/kernels/formats.h"
#include "cpu/kernels/levels.h"
#include "cpu/kernels/passes.h"
#include "cpu/kernels/plain.h"
#include "cpu/kernels/quants16.h"
#include "cpu/kernels/scaled.h"
#include "cpu/kernels/short_sums.h"
#include "cpu/kernels/two_rows.h"
#include "cpu/kernels/unpacked.h"

namespace rc::cpu::RC_CPU_LEVEL {
namespace {

// Adds the products of groups 2 first to 2 (first + pairs) - 1 of step j.
template <class Format, int tiles, int rows, int first, int pairs>
RC_SIMD void dot_long(const Format (&format)[2], int j,
                      const ActivationBlock* const (&x)[rows], int64_t at,
                      Vi (&y)[tiles][rows]) {
  const auto one = [&]<int h>() __attribute__((always_inline)) {
    const Pair pairs_of[2] = {format[0].template pair<h>(j),
                              format[tiles - 1].template pair<h>(j)};
#pragma GCC unroll 8
    for (int r = 0; r < rows; ++r) {
      const Columns columns = columns8(x[r][at].quants + 8 * h);
#pragma GCC unroll 2
      for (int t = 0; t < tiles; ++t) {
        y[t][r] = dot8<Format::kWide>(y[t][r], pairs_of[t].first,
                                      pairs_of[t].second, columns);
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

// The same, as the level does it best.
template <class Format, int tiles, int rows, int first, int pairs>
RC_SIMD void dot(const Format (&format)[2], int j,
                 const ActivationBlock* const (&x)[rows], int64_t at,
                 Vi (&y)[tiles][rows]) {
  if constexpr (kTwoRows && rows % 2 == 0) {
    for (int t = 0; t < tiles; ++t) {
      dot_two_rows<Format, rows, first, pairs>(format[t], j, x, at, y[t]);
    }
  } else if constexpr (kShortSums && !Format::kWide) {
    dot_short<Format, tiles, rows, first, pairs>(format, j, x, at, y);
  } else {
    dot_long<Format, tiles, rows, first, pairs>(format, j, x, at, y);
  }
}

template <class Format, int tiles, int rows>
RC_SIMD void dot_rows(const uint8_t* tile, int64_t tile_bytes, int64_t columns,
                      const Ahead& ahead,
                      const ActivationBlock* const (&x)[rows],
                      Vf (&y)[tiles][rows]) {
  constexpr int steps = Format::kColumns / 32;
  int64_t at = 0;
  for (int64_t column = 0; column < columns; column += Format::kColumns) {
    const Format format[2] = {Format(tile),
                              Format(tile + (tiles - 1) * tile_bytes)};
    tile += Format::kBytes;
    for (int j = 0; j < steps; ++j, ++at) {
      if constexpr (Format::kUnpacked) {
        ahead.prefetch_step(at);
      } else {
        static_assert(tiles == 1);
        prefetch_step<kPrefetch<rows>>(format[0], j, ahead.prefetch_offset);
      }
      Vi products[kScales<Format>][tiles][rows];
#pragma GCC unroll 8
      for (int r = 0; r < rows; ++r) {
#pragma GCC unroll 2
        for (int t = 0; t < tiles; ++t) {
#pragma GCC unroll 2
          for (int half = 0; half < kScales<Format>; ++half) {
            products[half][t][r] = start<Format>(x[r][at], half);
          }
        }
      }
      if constexpr (Format::kHalves) {
        dot<Format, tiles, rows, 0, 2>(format, j, x, at, products[0]);
        dot<Format, tiles, rows, 2, 2>(format, j, x, at, products[1]);
      } else {
        dot<Format, tiles, rows, 0, 4>(format, j, x, at, products[0]);
      }
      const auto product = [&](int half, int t, int r)
          __attribute__((always_inline)) {
        return products[half][t][r];
      };
      add_scaled<Format, tiles, rows>(format, j, x, at, y, product);
    }
  }
}

// Columns of float weights whose products make a sum.
constexpr int kBlock = 32;

template <class Plain, int tiles, int rows>
RC_SIMD void dot_rows(const uint8_t* tile, int64_t tile_bytes, int64_t columns,
                      const Ahead& ahead, const float* const (&x)[rows],
                      Vf (&y)[tiles][rows]) {
  const auto number = [&](int r, int64_t column)
      __attribute__((always_inline)) {
    return x[r][column];
  };
  dot_floats<Plain, kBlock>(tile, tile_bytes, columns, ahead, number, y);
}

// Columns of a step of weights for activations of this type.
template <class Element>
constexpr int kBlockOf = kBlock;
template <>
constexpr int kBlockOf<ActivationBlock16> = kColumns16;

template <class Weight, class Element, int tiles, int rows>
void some_rows(const LinearTask& task, int tile, int first) {
  const Element* x[rows];
  Vf y[tiles][rows];
#pragma GCC unroll 8
  for (int r = 0; r < rows; ++r) {
    x[r] = (const Element*)task.x[first + r];
#pragma GCC unroll 2
    for (int t = 0; t < tiles; ++t) y[t][r] = splat(0);
  }
  if (task.target) {
    const float* target =
        task.target + first * task.target_step + tile * kTileRows;
#pragma GCC unroll 8
    for (int r = 0; r < rows; ++r) {
#pragma GCC unroll 2
      for (int t = 0; t < tiles; ++t) {
        prefetch_later(target + r * task.target_step + t * kTileRows);
      }
    }
  }
  dot_rows<Weight, tiles, rows>(
      task.tile + tile * task.tile_bytes, task.tile_bytes, task.columns,
      ahead_of<tiles, kBlockOf<Element>>(task, tile, first), x, y);
#pragma GCC unroll 2
  for (int t = 0; t < tiles; ++t) {
    for (int r = 0; r < rows; ++r) finish(task, tile + t, first + r, y[t][r]);
  }
}

template <class Weight, class Element, int pair = 0>
void linear(const LinearTask& task) {
  by_tiles<pair>(task.tiles, [&]<int tiles, int most>(int tile) {
    by_rows<most>(task.rows, [&]<int rows>(int first) {
      some_rows<Weight, Element, tiles, rows>(task, tile, first);
    });
  });
}

// Of weights that need not be unpacked.
template <class Weight, class Element>
void plain_linear(const LinearTask& task) {
  constexpr int pair = kPairRows<false>;
  if (task.rows < pair) return linear<Weight, Element>(task);
  linear<Weight, Element, pair>(task);
}

// The sums of many rows with the columns from `column` on, of which `weights`
// has the next ones: from `sums` and back or, at the end, to the results.
template <class Weight, int tiles, int rows>
void some_columns(const LinearTask& task, int tile, int first, int64_t column,
                  int64_t count, const uint8_t* weights, int64_t weight_bytes,
                  const Ahead& ahead, float* sums) {
  const ActivationBlock* x[rows];
  Vf y[tiles][rows];
#pragma GCC unroll 8
  for (int r = 0; r < rows; ++r) {
    x[r] = (const ActivationBlock*)task.x[first + r] + column / 32;
#pragma GCC unroll 2
    for (int t = 0; t < tiles; ++t) {
      y[t][r] = column == 0 ? splat(0)
                            : load(sums + (t * kMaxChunk + first + r) * kLanes);
    }
  }
  if constexpr (kEightRows && rows == 8) {
    dot_eight_rows<Weight, tiles>(weights, weight_bytes, count, ahead, x, y);
  } else {
    dot_rows<Weight, tiles, rows>(weights, weight_bytes, count, ahead, x, y);
  }
#pragma GCC unroll 2
  for (int t = 0; t < tiles; ++t) {
    for (int r = 0; r < rows; ++r) {
      if (column + count < task.columns) {
        store(sums + (t * kMaxChunk + first + r) * kLanes, y[t][r]);
      } else {
        finish(task, tile + t, first + r, y[t][r]);
      }
    }
  }
}

// From how many rows on that is worthwhile, as measured. Up to two passes over
// weights as they are take less time: while one waits for memory, products go
// on. Scales within blocks take long to unpack; other formats gain only where
// few rows share a pass. Matrices of AMX, where nothing has been measured yet,
// are multiplied unpacked.
template <class Format>
constexpr int kUnpackFrom = kParts > 1               ? 2 * kMaxRows
                            : kEightRows             ? kMaxRows + 1
                            : Format::kColumns < 256 ? kMaxChunk + 1
                                                     : 2 * kMaxRows + 1;

template <class Format>
void quantized_linear(const LinearTask& task) {
  if (task.rows < kUnpackFrom<Format>) {
    return linear<Format, ActivationBlock>(task);
  }
  using Weight = UnpackedOf<Format>;
  constexpr int64_t bytes_most = kUnpackedColumns / 32 * Weight::kBytes;
  constexpr int pair = kPairRows<Format::kHalves>;
  constexpr int most_tiles = pair > 0 ? 2 : 1;
  alignas(64) uint8_t weights[most_tiles][bytes_most];
  alignas(64) float sums[most_tiles * kMaxChunk * kLanes];
  [[maybe_unused]] const Matrices<Weight> matrices{};
  by_tiles<pair>(task.tiles, [&]<int tiles, int most>(int tile) {
    const uint8_t* from = task.tile + tile * task.tile_bytes;
    for (int64_t column = 0; column < task.columns;
         column += kUnpackedColumns) {
      const int64_t count = task.columns - column < kUnpackedColumns
                                ? task.columns - column
                                : kUnpackedColumns;
      for (int t = 0; t < tiles; ++t) {
        unpack<Format>(from + t * task.tile_bytes, count, task.prefetch_offset,
                       weights[t]);
      }
      const int64_t bytes = count / Format::kColumns * Format::kBytes;
      from += bytes;
      // After the last columns of a tile come the first ones of the next.
      const int64_t steps = task.rows / most * (count / 32);
      const int lines = (int)((tiles * bytes / 64 + steps - 1) / steps);
      by_rows<most>(task.rows, [&]<int rows>(int first) {
        const Ahead ahead = {from + (tiles - 1) * task.tile_bytes +
                                 first / most * (count / 32) * lines * 64 +
                                 task.prefetch_offset,
                             lines, 0};
        some_columns<Weight, tiles, rows>(task, tile, first, column, count,
                                          weights[0], bytes_most, ahead, sums);
      });
    }
  });
}

template <class Format>
struct QuantizedLinear {
  static constexpr LinearFunction kFunction = quantized_linear<Format>;
};

}  // namespace

LinearFunction linear_function(rc_dtype weight) {
  switch (weight) {
    case RC_DTYPE_F32:
      return plain_linear<PlainF32, float>;
    case RC_DTYPE_F16:
      return plain_linear<PlainF16, float>;
    case RC_DTYPE_BF16:
      return plain_linear<PlainBF16, float>;
    case kQuants16:
      return plain_linear<Quants16, ActivationBlock16>;
    default:
      return of_format<LinearFunction, QuantizedLinear>(weight);
  }
}

}  // namespace rc::cpu::RC_CPU_LEVEL
