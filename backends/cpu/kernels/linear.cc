// Products of activations with tiles of 16 rows of a weight.
//
// Each output element is summed in one order: 32 (or, with scales for 16
// columns, 16) columns as integers, then block after block in floats. It does
// not matter how many rows of activations the call has, so one row of a decode
// step and the same row in a prompt give the same bits.
#include "cpu/kernels/formats.h"
#include "cpu/kernels/levels.h"

namespace rc::cpu::RC_CPU_LEVEL {
namespace {

// How far ahead of the arithmetic weights are asked for, in bytes.
constexpr int kPrefetch = 4096;

// Rows of activations per pass: as many as accumulators fit into registers.
constexpr int kMaxRows = kParts == 1 ? 8 : 4;

template <class Format>
RC_SIMD void prefetch_step(const Format& format, int j) {
  const uint8_t* p = format.quants(j) + kPrefetch;
#pragma GCC unroll 16
  for (int i = 0; i < (Format::kStep + 63) / 64; ++i) prefetch(p + 64 * i);
  if constexpr (Format::kColumns == 256) {
    if (j == 0) {
      for (int i = 0; i < Format::kBytes - 8 * Format::kStep; i += 64) {
        prefetch(format.block + kPrefetch + i);
      }
    }
  }
}

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

template <class Format, int rows>
RC_SIMD void dot_rows(const uint8_t* tile, int64_t columns,
                      const ActivationBlock* const (&x)[rows], Vf (&y)[rows]) {
  constexpr int offset =
      Format::kWide ? (Format::kOffset + kWideOffset - 128) : Format::kOffset;
  constexpr int steps = Format::kColumns / 32;
  int64_t at = 0;
  for (int64_t column = 0; column < columns; column += Format::kColumns) {
    const Format format(tile);
    tile += Format::kBytes;
    for (int j = 0; j < steps; ++j, ++at) {
      prefetch_step(format, j);
      if constexpr (Format::kHalves) {
        Vi a[rows], b[rows];
#pragma GCC unroll 8
        for (int r = 0; r < rows; ++r) {
          a[r] = splat_int(-offset * x[r][at].halves[0]);
          b[r] = splat_int(-offset * x[r][at].halves[1]);
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
          a[r] = splat_int(-offset * x[r][at].sum);
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

// Sums of 32 columns are added up: more exact than one long sum, and the sums
// do not wait for each other.
template <class Plain, int rows>
RC_SIMD void dot_rows(const uint8_t* tile, int64_t columns,
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

template <class Weight, class Element, int rows>
void some_rows(const LinearTask& task, int first) {
  const Element* x[rows];
  Vf y[rows];
#pragma GCC unroll 8
  for (int r = 0; r < rows; ++r) {
    x[r] = (const Element*)task.x[first + r];
    y[r] = splat(0);
  }
  dot_rows<Weight, rows>(task.tile, task.columns, x, y);
  for (int r = 0; r < rows; ++r) {
    if (task.bias) y[r] = add(y[r], load_some(task.bias, task.lanes));
    if (task.residual) {
      y[r] = add(y[r], load_some(task.residual[first + r], task.lanes));
    }
    store_some(task.y[first + r], y[r], task.lanes);
  }
}

template <class Weight, class Element>
void linear(const LinearTask& task) {
  int first = 0;
  if constexpr (kMaxRows >= 8) {
    for (; first + 8 <= task.rows; first += 8) {
      some_rows<Weight, Element, 8>(task, first);
    }
  }
  for (; first + 4 <= task.rows; first += 4) {
    some_rows<Weight, Element, 4>(task, first);
  }
  for (; first + 2 <= task.rows; first += 2) {
    some_rows<Weight, Element, 2>(task, first);
  }
  if (first < task.rows) some_rows<Weight, Element, 1>(task, first);
}

template <class Format>
constexpr LinearFunction quantized = linear<Format, ActivationBlock>;

// The bytes of all 16 rows are decoded and one row of them kept: a row of a
// table is asked for once per token.
template <class Format>
void table_row(const uint8_t* tile, int lane, int64_t columns, float* y) {
  for (int64_t column = 0; column < columns; column += Format::kColumns) {
    const Format format(tile);
    tile += Format::kBytes;
    for (int j = 0; j < Format::kColumns / 32; ++j) {
      uint8_t bytes[8][64];
      const auto keep = [&](const Pair& pair, int h) {
        store_bytes(bytes[2 * h], pair.first);
        store_bytes(bytes[2 * h + 1], pair.second);
      };
      keep(format.template pair<0>(j), 0);
      keep(format.template pair<1>(j), 1);
      keep(format.template pair<2>(j), 2);
      keep(format.template pair<3>(j), 3);
      for (int half = 0; half < 2; ++half) {
        float scale[kTileRows], minimum[kTileRows];
        store(scale, format.scale(j, half));
        store(minimum, format.minimum(j, half));
        for (int i = 16 * half; i < 16 * half + 16; ++i) {
          const int q = bytes[i / 4][4 * lane + i % 4] - Format::kOffset;
          float value = scale[lane] * (float)q;
          if constexpr (Format::kMinimum) value = value - minimum[lane];
          *y++ = value;
        }
      }
    }
  }
}

template <class Plain>
void plain_row(const uint8_t* tile, int lane, int64_t columns, float* y) {
  for (int64_t column = 0; column < columns; ++column) {
    float values[kTileRows];
    store(values, Plain::column(tile + column * Plain::kBytes));
    y[column] = values[lane];
  }
}

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

TableFunction table_function(rc_dtype weight) {
  switch (weight) {
    case RC_DTYPE_F32:
      return plain_row<PlainF32>;
    case RC_DTYPE_F16:
      return plain_row<PlainF16>;
    case RC_DTYPE_BF16:
      return plain_row<PlainBF16>;
    case RC_DTYPE_Q4_0:
      return table_row<FormatQ4_0>;
    case RC_DTYPE_Q4_1:
      return table_row<FormatQ4_1>;
    case RC_DTYPE_Q5_0:
      return table_row<FormatQ5_0>;
    case RC_DTYPE_Q5_1:
      return table_row<FormatQ5_1>;
    case RC_DTYPE_Q8_0:
      return table_row<FormatQ8_0>;
    case RC_DTYPE_Q2_K:
      return table_row<FormatQ2_K>;
    case RC_DTYPE_Q3_K:
      return table_row<FormatQ3_K>;
    case RC_DTYPE_Q4_K:
      return table_row<FormatQ4_K>;
    case RC_DTYPE_Q5_K:
      return table_row<FormatQ5_K>;
    case RC_DTYPE_Q6_K:
      return table_row<FormatQ6_K>;
    case RC_DTYPE_IQ4_NL:
      return table_row<FormatIQ4_NL>;
    case RC_DTYPE_IQ4_XS:
      return table_row<FormatIQ4_XS>;
    case RC_DTYPE_MXFP4:
      return table_row<FormatMXFP4>;
    default:
      return nullptr;
  }
}

}  // namespace rc::cpu::RC_CPU_LEVEL
