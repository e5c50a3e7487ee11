// Kernels of tensor ops that look at one element of each operand at a time, and
// sums of many. What an element becomes does not depend on where it stands.
#include "cpu/kernels/functions.h"
#include "cpu/kernels/levels.h"
#include "runcible/plugin_ops.h"

namespace rc::cpu::RC_CPU_LEVEL {
namespace {

// For functions that the C library has and this one has not.
template <class Function>
RC_SIMD Vf by_lanes(const Vf& a, const Vf& b, Function f) {
  float x[kLanes];
  float y[kLanes];
  store(x, a);
  store(y, b);
  for (int i = 0; i < kLanes; ++i) x[i] = f(x[i], y[i]);
  return load(x);
}

RC_SIMD Vf log(const Vf& x) {
  return by_lanes(x, x, [](float u, float) { return __builtin_logf(u); });
}

RC_SIMD Vf power(const Vf& a, const Vf& b) {
  return by_lanes(a, b, [](float u, float v) { return __builtin_powf(u, v); });
}

// -0 becomes 0, and a NaN stays.
RC_SIMD Vf magnitude(const Vf& x) {
  return if_less(x, splat(0), sub(splat(0), x), add(x, splat(0)));
}

// The second operand of a comparison with a NaN is what levels agree on.
RC_SIMD Vf minimum(const Vf& a, const Vf& b) {
  return if_equal(a, a, smallest(a, b), a);
}
RC_SIMD Vf maximum(const Vf& a, const Vf& b) {
  return if_equal(a, a, largest(a, b), a);
}

RC_SIMD Vf equal(const Vf& a, const Vf& b) {
  return if_equal(a, b, splat(1), splat(0));
}
RC_SIMD Vf not_equal(const Vf& a, const Vf& b) {
  return if_equal(a, b, splat(0), splat(1));
}
RC_SIMD Vf less(const Vf& a, const Vf& b) {
  return if_less(a, b, splat(1), splat(0));
}
RC_SIMD Vf less_equal(const Vf& a, const Vf& b) {
  return if_equal(a, b, splat(1), less(a, b));
}

// y[i] = f(a[i], b[i]); an operand with step 0 is one number.
template <class Function>
RC_SIMD void pairs(const float* a, int a_step, const float* b, int b_step,
                   int64_t n, float* y, Function f) {
  if (a_step != 0 && b_step != 0) return each(a, b, n, y, f);
  if (a_step != 0) {
    const Vf all = splat(*b);
    return each(
        a, a, n, y, [&](const Vf& u, const Vf&) __attribute__((always_inline)) {
          return f(u, all);
        });
  }
  const Vf all = splat(*a);
  if (b_step == 0) {
    const Vf one = f(all, splat(*b));
    for (int64_t i = 0; i < n; i += kLanes) store_some(y + i, one, n - i);
    return;
  }
  each(
      b, b, n, y, [&](const Vf& v, const Vf&) __attribute__((always_inline)) {
        return f(all, v);
      });
}

}  // namespace

void unary(const float* x, int64_t n, int32_t function, float* y) {
#define RC_UNARY_ROW(f) \
  each(                 \
      x, x, n, y,       \
      [](const Vf& u, const Vf&) __attribute__((always_inline)) { return f; })
  switch (function) {
    case RC_FUNCTION_RELU:
      return RC_UNARY_ROW(relu(u));
    case RC_FUNCTION_SIGMOID:
      return RC_UNARY_ROW(sigmoid(u));
    case RC_FUNCTION_TANH:
      return RC_UNARY_ROW(tanh(u));
    case RC_FUNCTION_SILU:
      return RC_UNARY_ROW(silu(u));
    case RC_FUNCTION_GELU:
      return RC_UNARY_ROW(gelu(u));
    case RC_FUNCTION_GELU_QUICK:
      return RC_UNARY_ROW(gelu_quick(u));
    case RC_UNARY_EXP:
      return RC_UNARY_ROW(exp(u));
    case RC_UNARY_LOG:
      return RC_UNARY_ROW(log(u));
    case RC_UNARY_SQRT:
      return RC_UNARY_ROW(root(u));
    case RC_UNARY_ABS:
      return RC_UNARY_ROW(magnitude(u));
    case RC_UNARY_NEG:
      return RC_UNARY_ROW(negated(u));
    default:
      return RC_UNARY_ROW(gelu_tanh(u));
  }
#undef RC_UNARY_ROW
}

void binary(const float* a, int a_step, const float* b, int b_step, int64_t n,
            int32_t function, float* y) {
#define RC_PAIRS(f)                \
  pairs(                           \
      a, a_step, b, b_step, n, y,  \
      [](const Vf& u, const Vf& v) \
          __attribute__((always_inline)) { return f; })
  switch (function) {
    case RC_BINARY_ADD:
      return RC_PAIRS(add(u, v));
    case RC_BINARY_MUL:
      return RC_PAIRS(mul(u, v));
    case RC_BINARY_SUB:
      return RC_PAIRS(sub(u, v));
    case RC_BINARY_DIV:
      return RC_PAIRS(div(u, v));
    case RC_BINARY_POW:
      return RC_PAIRS(power(u, v));
    case RC_BINARY_MINIMUM:
      return RC_PAIRS(minimum(u, v));
    case RC_BINARY_MAXIMUM:
      return RC_PAIRS(maximum(u, v));
    case RC_BINARY_EQUAL:
      return RC_PAIRS(equal(u, v));
    case RC_BINARY_NOT_EQUAL:
      return RC_PAIRS(not_equal(u, v));
    case RC_BINARY_LESS:
      return RC_PAIRS(less(u, v));
    case RC_BINARY_LESS_EQUAL:
      return RC_PAIRS(less_equal(u, v));
    case RC_BINARY_GREATER:
      return RC_PAIRS(less(v, u));
    default:
      return RC_PAIRS(less_equal(v, u));
  }
#undef RC_PAIRS
}

void where(const float* const* from, const int* steps, int64_t n, float* y) {
  const Vf all[3] = {splat(*from[0]), splat(*from[1]), splat(*from[2])};
  for (int64_t i = 0; i < n; i += kLanes) {
    Vf x[3];
#pragma GCC unroll 3
    for (int k = 0; k < 3; ++k) {
      x[k] = steps[k] != 0 ? load_some(from[k] + i, n - i) : all[k];
    }
    store_some(y + i, if_equal(x[0], splat(0), x[2], x[1]), n - i);
  }
}

// Row by row for all tiles: where rows are far apart, each is on a page of its
// own.
void tile_columns(const float* x, int64_t step, int64_t rows, int64_t columns,
                  float* tiles, int64_t tile_step) {
  for (int64_t r = 0; r < rows; ++r, x += step, tiles += kLanes) {
    float* to = tiles;
    for (int64_t c = 0; c < columns; c += kLanes, to += tile_step) {
      store(to, load_some(x + c, columns - c));
    }
  }
}

// Where the last piece of a size begins, if `at` is beyond it.
RC_SIMD int64_t last(int64_t at, int64_t end, int64_t size) {
  return at < end - size ? at : end - size;
}

// Four columns of 16 rows become rows.
RC_SIMD void transpose_four(const float* x, int64_t step, float* y,
                            int64_t y_step) {
  Vf four[4];
  load_columns(x, step, four);
#pragma GCC unroll 4
  for (int l = 0; l < 4; ++l) store(y + l * y_step, four[l]);
}

// Rows that are powers of two apart fall on the same places of a cache, which
// has few for each: a block of such is read once, a row at a time, and written
// as whole rows, too. What is last ends where x does: it may overlap what is
// before.
void transpose(const float* x, int64_t step, int64_t rows, int64_t columns,
               float* y, int64_t y_step) {
  if (rows < kLanes || columns < kLanes) {
    for (int64_t c = 0; c < columns; ++c) {
      for (int64_t r = 0; r < rows; ++r) y[c * y_step + r] = x[r * step + c];
    }
    return;
  }
  constexpr int64_t kSide = 64;
  const bool crowded = step % 512 == 0;
  const int64_t side = crowded ? kSide : kLanes;
  const int64_t height = rows < side ? rows : side;
  const int64_t width = columns < side ? columns : side;
  alignas(64) float block[kSide * kSide];
  for (int64_t i = 0; i < rows; i += height) {
    const int64_t r = last(i, rows, height);
    for (int64_t j = 0; j < columns; j += width) {
      const int64_t c = last(j, columns, width);
      const float* from = x + r * step + c;
      float* to = y + c * y_step + r;
      if (!crowded) {
        for (int k = 0; k < kLanes; k += 4) {
          transpose_four(from + k, step, to + k * y_step, y_step);
        }
        continue;
      }
      for (int64_t k = 0; k < height; ++k) {
        for (int64_t l = 0; l < width; l += kLanes) {
          const int64_t at = last(l, width, kLanes);
          store(block + k * kSide + at, load(from + k * step + at));
        }
      }
      for (int64_t l = 0; l < width; l += 4) {
        const int64_t column = last(l, width, 4);
        for (int64_t k = 0; k < height; k += kLanes) {
          const int64_t row = last(k, height, kLanes);
          transpose_four(block + row * kSide + column, kSide,
                         to + column * y_step + row, y_step);
        }
      }
    }
  }
}

// Four sums at a time, of pieces that are then added up as doubles: long rows
// lose nothing.
double sum_elements(const float* x, int64_t n) {
  constexpr int64_t kStep = 4 * kLanes;
  constexpr int64_t kPiece = 16 * kStep;
  double total = 0;
  int64_t i = 0;
  while (i + kStep <= n) {
    const int64_t first = i;
    const int64_t end =
        n - i < kPiece ? i + (n - i) / kStep * kStep : i + kPiece;
    Vf sums[4] = {load(x + i), load(x + i + kLanes), load(x + i + 2 * kLanes),
                  load(x + i + 3 * kLanes)};
    for (i += kStep; i < end; i += kStep) {
#pragma GCC unroll 4
      for (int k = 0; k < 4; ++k) {
        sums[k] = add(sums[k], load(x + i + k * kLanes));
      }
    }
    total += exact_sum(sum(add(add(sums[0], sums[1]), add(sums[2], sums[3]))),
                       x + first, end - first);
  }
  const int64_t first = i;
  Vf rest = splat(0);
  for (; i < n; i += kLanes) rest = add(rest, load_some(x + i, n - i));
  return total + exact_sum(sum(rest), x + first, n - first);
}

void to_f16(const float* x, int64_t n, uint16_t* y) {
  if constexpr (kConvertsHalves) {
    int64_t i = 0;
    for (; i + kLanes <= n; i += kLanes) {
      store_f16(y + i, load(x + i));
    }
    if (i == n) return;
    uint16_t rest[kLanes];
    store_f16(rest, load_some(x + i, n - i));
    for (int64_t k = i; k < n; ++k) y[k] = rest[k - i];
  }
}

}  // namespace rc::cpu::RC_CPU_LEVEL
