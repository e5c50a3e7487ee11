// Products of activations with tiles of 16 rows of a weight.
//
// Each output element is summed in one order: 32 (or, with scales for 16
// columns, 16) columns as integers, then block after block in floats. It does
// not matter how many rows of activations the call has, so one row of a decode
// step and the same row in a prompt give the same bits.
#include "cpu/kernels/formats.h"
#include "cpu/kernels/levels.h"
#include "cpu/kernels/plain.h"
#include "cpu/kernels/unpacked.h"

namespace rc::cpu::RC_CPU_LEVEL {
namespace {

// Rows of activations per pass: as many as accumulators fit into registers.
constexpr int kMaxRows = kParts == 1 ? 8 : 4;

// Integer products of groups `first` to `first` + 2 * pairs - 1 of step j.
template <class Format, int rows, int first, int pairs>
RC_SIMD void dot(const Format& format, int j,
                 const ActivationBlock* const (&x)[rows], int64_t at,
                 Vi (&y)[rows]) {
  const auto one = [&](const Pair& pair, int h) __attribute__((always_inline)) {
#pragma GCC unroll 8
    for (int r = 0; r < rows; ++r) {
      y[r] = dot8<Format::kWide>(y[r], pair.first, pair.second,
                                 columns8(x[r][at].quants + 8 * h));
    }
  };
  one(format.template pair<first>(j), first);
  one(format.template pair<first + 1>(j), first + 1);
  if constexpr (pairs == 4) {
    one(format.template pair<first + 2>(j), first + 2);
    one(format.template pair<first + 3>(j), first + 3);
  }
}

// Where the sums of a row begin: at minus the offset times its quants.
template <int offset>
RC_SIMD Vi start(int32_t minus_sum) {
  static_assert((offset & (offset - 1)) == 0);
  if constexpr (offset == 0) {
    return splat_int(0);
  } else {
    return shl<__builtin_ctz(offset)>(splat_int(minus_sum));
  }
}

// What to ask for meanwhile where weights are unpacked: those to be unpacked
// next, some lines per 32 columns.
struct Ahead {
  const uint8_t* bytes;
  int lines;
};

template <class Format, int rows>
RC_SIMD void dot_rows(const uint8_t* tile, int64_t columns, const Ahead& ahead,
                      const ActivationBlock* const (&x)[rows], Vf (&y)[rows]) {
  constexpr int offset =
      Format::kWide ? (Format::kOffset + kWideOffset - 128) : Format::kOffset;
  constexpr int steps = Format::kColumns / 32;
  int64_t at = 0;
  for (int64_t column = 0; column < columns; column += Format::kColumns) {
    const Format format(tile);
    tile += Format::kBytes;
    for (int j = 0; j < steps; ++j, ++at) {
      if constexpr (Format::kUnpacked) {
        const uint8_t* next = ahead.bytes + 64 * ahead.lines * at;
        for (int i = 0; i < ahead.lines; ++i) prefetch_later(next + 64 * i);
      } else {
        prefetch_step<kPrefetch>(format, j);
      }
      if constexpr (Format::kHalves) {
        Vi a[rows], b[rows];
#pragma GCC unroll 8
        for (int r = 0; r < rows; ++r) {
          a[r] = start<offset>(x[r][at].minus_halves[0]);
          b[r] = start<offset>(x[r][at].minus_halves[1]);
        }
        dot<Format, rows, 0, 2>(format, j, x, at, a);
        dot<Format, rows, 2, 2>(format, j, x, at, b);
        const Vf scale_a = format.scale(j, 0);
        const Vf scale_b = format.scale(j, 1);
#pragma GCC unroll 8
        for (int r = 0; r < rows; ++r) {
          const Vf t =
              fma(to_float(b[r]), scale_b, mul(to_float(a[r]), scale_a));
          y[r] = fma(t, splat(x[r][at].scale), y[r]);
        }
        if constexpr (Format::kMinimum) {
          const Vf minimum_a = format.minimum(j, 0);
          const Vf minimum_b = format.minimum(j, 1);
#pragma GCC unroll 8
          for (int r = 0; r < rows; ++r) {
            y[r] = fnma(minimum_a, splat(x[r][at].weighted_halves[0]), y[r]);
            y[r] = fnma(minimum_b, splat(x[r][at].weighted_halves[1]), y[r]);
          }
        }
      } else {
        Vi a[rows];
#pragma GCC unroll 8
        for (int r = 0; r < rows; ++r) {
          a[r] = start<offset>(x[r][at].minus_sum);
        }
        dot<Format, rows, 0, 4>(format, j, x, at, a);
        const Vf scale = format.scale(j, 0);
#pragma GCC unroll 8
        for (int r = 0; r < rows; ++r) {
          y[r] = fma(mul(to_float(a[r]), scale), splat(x[r][at].scale), y[r]);
        }
        if constexpr (Format::kMinimum) {
          const Vf minimum = format.minimum(j, 0);
#pragma GCC unroll 8
          for (int r = 0; r < rows; ++r) {
            y[r] = fnma(minimum, splat(x[r][at].weighted_sum), y[r]);
          }
        }
      }
    }
  }
}

// Sums of 32 columns are added up: more exact than one long sum, and the sums
// do not wait for each other.
template <class Plain, int rows>
RC_SIMD void dot_rows(const uint8_t* tile, int64_t columns, const Ahead&,
                      const float* const (&x)[rows], Vf (&y)[rows]) {
  for (int64_t first = 0; first < columns; first += 32) {
    const int64_t end = first + 32 < columns ? first + 32 : columns;
    Vf t[rows];
#pragma GCC unroll 8
    for (int r = 0; r < rows; ++r) t[r] = splat(0);
    for (int64_t column = first; column < end; ++column) {
      prefetch(tile + kPrefetch);
      const Vf w = Plain::column(tile);
      tile += Plain::kBytes;
#pragma GCC unroll 8
      for (int r = 0; r < rows; ++r) {
        t[r] = fma(w, splat(x[r][column]), t[r]);
      }
    }
#pragma GCC unroll 8
    for (int r = 0; r < rows; ++r) y[r] = add(y[r], t[r]);
  }
}

RC_SIMD void finish(const LinearTask& task, int row, Vf y) {
  if (task.bias) y = add(y, load_some(task.bias, task.lanes));
  if (task.residual) {
    y = add(y, load_some(task.residual[row], task.lanes));
  }
  store_some(task.y[row], y, task.lanes);
}

template <class Weight, class Element, int rows>
void some_rows(const LinearTask& task, int first) {
  const Element* x[rows];
  Vf y[rows];
#pragma GCC unroll 8
  for (int r = 0; r < rows; ++r) {
    x[r] = (const Element*)task.x[first + r];
    y[r] = splat(0);
  }
  dot_rows<Weight, rows>(task.tile, task.columns, Ahead{}, x, y);
  for (int r = 0; r < rows; ++r) finish(task, first + r, y[r]);
}

// Calls some<rows>(first) for all rows of a task, as many at once as there are
// registers for.
template <class Some>
RC_SIMD void by_rows(int rows, Some some) {
  int first = 0;
  if constexpr (kMaxRows >= 8) {
    for (; first + 8 <= rows; first += 8) some.template operator()<8>(first);
  }
  for (; first + 4 <= rows; first += 4) some.template operator()<4>(first);
  for (; first + 2 <= rows; first += 2) some.template operator()<2>(first);
  if (first < rows) some.template operator()<1>(first);
}

template <class Weight, class Element>
void linear(const LinearTask& task) {
  by_rows(task.rows, [&]<int rows>(int first) {
    some_rows<Weight, Element, rows>(task, first);
  });
}

// Columns that are unpacked at a time. Shorter runs through the activations
// than this cost more than what a smaller area saves.
constexpr int64_t kUnpackedColumns = 2048;

// The sums of many rows with the columns from `column` on, of which `weights`
// has the next ones: from `sums` and back or, at the end, to the results.
template <class Weight, int rows>
void some_columns(const LinearTask& task, int first, int64_t column,
                  int64_t count, const uint8_t* weights, const Ahead& ahead,
                  float* sums) {
  const ActivationBlock* x[rows];
  Vf y[rows];
#pragma GCC unroll 8
  for (int r = 0; r < rows; ++r) {
    x[r] = (const ActivationBlock*)task.x[first + r] + column / 32;
    y[r] = column == 0 ? splat(0) : load(sums + (first + r) * kLanes);
  }
  dot_rows<Weight, rows>(weights, count, ahead, x, y);
  for (int r = 0; r < rows; ++r) {
    if (column + count < task.columns) {
      store(sums + (first + r) * kLanes, y[r]);
    } else {
      finish(task, first + r, y[r]);
    }
  }
}

template <class Format>
void quantized_linear(const LinearTask& task) {
  // Scales within blocks take long to unpack; other formats gain only where few
  // rows share a pass.
  constexpr bool worthwhile = Format::kColumns == 256 || kMaxRows < 8;
  if (!worthwhile || task.rows < 2 * kMaxRows) {
    return linear<Format, ActivationBlock>(task);
  }
  using Weight = UnpackedOf<Format>;
  alignas(64) uint8_t weights[kUnpackedColumns / 32 * Weight::kBytes];
  alignas(64) float sums[kMaxChunk * kLanes];
  const uint8_t* tile = task.tile;
  for (int64_t column = 0; column < task.columns; column += kUnpackedColumns) {
    const int64_t count = task.columns - column < kUnpackedColumns
                              ? task.columns - column
                              : kUnpackedColumns;
    unpack<Format>(tile, count, weights);
    const int64_t bytes = count / Format::kColumns * Format::kBytes;
    tile += bytes;
    // After the last columns of a tile come the first ones of the next.
    const int64_t steps = task.rows / kMaxRows * (count / 32);
    const int lines = (int)((bytes / 64 + steps - 1) / steps);
    by_rows(task.rows, [&]<int rows>(int first) {
      const Ahead ahead = {tile + first / kMaxRows * (count / 32) * lines * 64,
                           lines};
      some_columns<Weight, rows>(task, first, column, count, weights, ahead,
                                 sums);
    });
  }
}

template <class Format>
constexpr LinearFunction quantized = quantized_linear<Format>;

}  // namespace

LinearFunction linear_function(rc_dtype weight) {
  switch (weight) {
    case RC_DTYPE_F32:
      return linear<PlainF32, float>;
    case RC_DTYPE_F16:
      return linear<PlainF16, float>;
    case RC_DTYPE_BF16:
      return linear<PlainBF16, float>;
    case RC_DTYPE_Q4_0:
      return quantized<FormatQ4_0>;
    case RC_DTYPE_Q4_1:
      return quantized<FormatQ4_1>;
    case RC_DTYPE_Q5_0:
      return quantized<FormatQ5_0>;
    case RC_DTYPE_Q5_1:
      return quantized<FormatQ5_1>;
    case RC_DTYPE_Q8_0:
      return quantized<FormatQ8_0>;
    case RC_DTYPE_Q2_K:
      return quantized<FormatQ2_K>;
    case RC_DTYPE_Q3_K:
      return quantized<FormatQ3_K>;
    case RC_DTYPE_Q4_K:
      return quantized<FormatQ4_K>;
    case RC_DTYPE_Q5_K:
      return quantized<FormatQ5_K>;
    case RC_DTYPE_Q6_K:
      return quantized<FormatQ6_K>;
    case RC_DTYPE_IQ4_NL:
      return quantized<FormatIQ4_NL>;
    case RC_DTYPE_IQ4_XS:
      return quantized<FormatIQ4_XS>;
    case RC_DTYPE_MXFP4:
      return quantized<FormatMXFP4>;
    default:
      return nullptr;
  }
}

}  // namespace rc::cpu::RC_CPU_LEVEL
