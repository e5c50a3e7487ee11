// Everything that works row by row: quantizing, norms, gates, sums, rotation.
#include "cpu/kernels/functions.h"
#include "cpu/kernels/levels.h"

namespace rc::cpu::RC_CPU_LEVEL {
void quantize(const float* x, int64_t n, ActivationBlock* y) {
  for (; n > 0; n -= 32, x += 32, ++y) {
    const Vf a = load(x);
    const Vf b = load(x + kLanes);
    const Vf zero = splat(0);
    const float limit = largest_lane(
        largest(largest(a, sub(zero, a)), largest(b, sub(zero, b))));
    const float inverse = limit > 0 ? 127.0f / limit : 0.0f;
    // Within limits even where x is infinite or NaN.
    const Vf low = splat(-127.0f);
    const Vf high = splat(127.0f);
    const Vi qa = rounded(smallest(largest(mul(a, splat(inverse)), low), high));
    const Vi qb = rounded(smallest(largest(mul(b, splat(inverse)), low), high));
    store_s8(y->quants, qa);
    store_s8(y->quants + kLanes, qb);
    // x - x is 0 but for infinity and NaN, which must not get lost here.
    y->scale = limit / 127.0f + sum(add(sub(a, a), sub(b, b)));
    const int32_t halves[2] = {sum(qa), sum(qb)};
    y->weighted_halves[0] = y->scale * (float)halves[0];
    y->weighted_halves[1] = y->scale * (float)halves[1];
    y->weighted_sum = y->scale * (float)(halves[0] + halves[1]);
    y->minus_halves[0] = -halves[0];
    y->minus_halves[1] = -halves[1];
    y->minus_sum = -halves[0] - halves[1];
    y->unused = 0;
  }
}

// Whether the root of a mean square is exact: it has neither overflowed nor
// lost digits below the normal numbers.
static bool has_root(float square) {
  return square >= 0x1p-100f && square < __builtin_inff();
}

// The norm of a row whose squares F32 cannot hold. NULL: absent.
static void norm_in_f64(const float* x, const float* weight, const float* bias,
                        int64_t n, float epsilon, bool center, float* y) {
  double mean = 0;
  for (int64_t i = 0; center && i < n; ++i) mean += (double)x[i];
  mean /= (double)n;
  double squares = 0;
  for (int64_t i = 0; i < n; ++i) {
    const double v = (double)x[i] - mean;
    squares += v * v;
  }
  const double factor =
      1 / __builtin_sqrt(squares / (double)n + (double)epsilon);
  for (int64_t i = 0; i < n; ++i) {
    double v = ((double)x[i] - mean) * factor;
    if (weight != nullptr) v *= (double)weight[i];
    if (bias != nullptr) v += (double)bias[i];
    y[i] = (float)v;
  }
}

void rms_norm(const float* x, const float* weight, int64_t n, float epsilon,
              float* y) {
  Vf squares = splat(0);
  for (int64_t i = 0; i < n; i += kLanes) {
    const Vf v = load_some(x + i, n - i);
    squares = fma(v, v, squares);
  }
  const float mean = sum(squares) / (float)n;
  if (!has_root(mean + epsilon)) {
    return norm_in_f64(x, weight, nullptr, n, epsilon, false, y);
  }
  const Vf factor = splat(1.0f / __builtin_sqrtf(mean + epsilon));
  each(
      x, weight, n,
      y, [&](const Vf& a, const Vf& w) __attribute__((always_inline)) {
        return mul(mul(a, factor), w);
      });
}

// The limits stand first: where the other is a NaN, that is the result.
template <class Function>
RC_SIMD void glu_limited(const float* gate, const float* up, int64_t n,
                         const Gate& how, float* y, Function of_gate) {
  const float limit = how.limit > 0 ? how.limit : __builtin_inff();
  const Vf most = splat(limit);
  const Vf least = splat(-limit);
  const Vf offset = splat(how.offset);
  each(
      gate, up, n,
      y, [&](const Vf& g, const Vf& u) __attribute__((always_inline)) {
        return mul(of_gate(smallest(most, g)),
                   add(largest(least, smallest(most, u)), offset));
      });
}

void glu(const float* gate, const float* up, int64_t n, const Gate& how,
         float* y) {
  const bool plain = how.limit == 0 && how.offset == 0;
#define RC_GLU(of_gate)                                                        \
  plain                                                                        \
      ? each(                                                                  \
            gate, up, n, y,                                                    \
            [](const Vf& g, const Vf& u)                                       \
                __attribute__((always_inline)) { return mul(of_gate(g), u); }) \
      : glu_limited(                                                           \
            gate, up, n, how, y,                                               \
            [](const Vf& g)                                                    \
                __attribute__((always_inline)) { return of_gate(g); })
  switch (how.function) {
    case RC_FUNCTION_RELU:
      RC_GLU(relu);
      break;
    case RC_FUNCTION_SIGMOID:
      RC_GLU(sigmoid);
      break;
    case RC_FUNCTION_TANH:
      RC_GLU(tanh);
      break;
    case RC_FUNCTION_SILU:
      RC_GLU(silu);
      break;
    case RC_FUNCTION_GELU:
      RC_GLU(gelu);
      break;
    case RC_FUNCTION_GELU_QUICK:
      RC_GLU(gelu_quick);
      break;
    default:
      RC_GLU(gelu_tanh);
      break;
  }
#undef RC_GLU
}

void add_rows(const float* a, const float* b, int64_t n, float* y) {
  each(
      a, b, n, y, [](const Vf& u, const Vf& v) __attribute__((always_inline)) {
        return add(u, v);
      });
}

void multiply_rows(const float* a, const float* b, int64_t n, float* y) {
  each(
      a, b, n, y, [](const Vf& u, const Vf& v) __attribute__((always_inline)) {
        return mul(u, v);
      });
}

void scale_row(const float* x, int64_t n, float factor, float* y) {
  const Vf f = splat(factor);
  each(
      x, x, n, y, [&](const Vf& u, const Vf&) __attribute__((always_inline)) {
        return mul(u, f);
      });
}

void softcap_row(const float* x, int64_t n, float cap, float* y) {
  const Vf f = splat(cap);
  each(
      x, x, n, y, [&](const Vf& u, const Vf&) __attribute__((always_inline)) {
        return mul(f, tanh(div(u, f)));
      });
}

void rope_head(const float* x, const float* cosines, const float* sines,
               int64_t pairs, int64_t d, int32_t style, float* y) {
  const int64_t step = style == 0 ? 2 : 1;       // from pair to pair
  const int64_t other = style == 0 ? 1 : pairs;  // to the second of a pair
  for (int64_t i = 0; i < pairs; ++i) {
    const float a = x[i * step];
    const float b = x[i * step + other];
    y[i * step] = a * cosines[i] - b * sines[i];
    y[i * step + other] = a * sines[i] + b * cosines[i];
  }
  for (int64_t i = 2 * pairs; i < d; ++i) y[i] = x[i];
}

void weighted_sum(const float* x, const float* weights, int64_t count,
                  int64_t n, float* y) {
  for (int64_t i = 0; i < n; i += kLanes) {
    Vf total = splat(0);
    for (int64_t j = 0; j < count; ++j) {
      total = fma(load_some(x + j * n + i, n - i), splat(weights[j]), total);
    }
    store_some(y + i, total, n - i);
  }
}

// Sums of pieces are added up as doubles: long rows lose nothing.
constexpr int64_t kPiece = 32 * kLanes;

static double sum_row(const float* x, int64_t n) {
  double total = 0;
  for (int64_t first = 0; first < n; first += kPiece) {
    const int64_t end = first + kPiece < n ? first + kPiece : n;
    Vf piece = splat(0);
    for (int64_t i = first; i < end; i += kLanes) {
      piece = add(piece, load_some(x + i, end - i));
    }
    total += exact_sum(sum(piece), x + first, end - first);
  }
  return total;
}

void layer_norm(const float* x, const float* weight, const float* bias,
                int64_t n, float epsilon, int32_t center, float* y) {
  const float mean = center != 0 ? (float)(sum_row(x, n) / (double)n) : 0.0f;
  const Vf middle = splat(mean);
  Vf squares = splat(0);
  for (int64_t i = 0; i < n; i += kLanes) {
    const Vf v = sub(load_some(x + i, n - i, mean), middle);
    squares = fma(v, v, squares);
  }
  const float square = sum(squares) / (float)n + epsilon;
  if (!has_root(square)) {
    return norm_in_f64(x, weight, bias, n, epsilon, center != 0, y);
  }
  const Vf factor = splat(1.0f / __builtin_sqrtf(square));
  for (int64_t i = 0; i < n; i += kLanes) {
    Vf v = mul(sub(load_some(x + i, n - i), middle), factor);
    if (weight != nullptr) v = mul(v, load_some(weight + i, n - i));
    if (bias != nullptr) v = add(v, load_some(bias + i, n - i));
    store_some(y + i, v, n - i);
  }
}

void softmax(const float* x, int64_t n, float* y) {
  constexpr int64_t kStep = 4 * kLanes;
  Vf most[4] = {splat(*x), splat(*x), splat(*x), splat(*x)};
  int64_t from = 0;
  for (; from + kStep <= n; from += kStep) {
#pragma GCC unroll 4
    for (int k = 0; k < 4; ++k) {
      most[k] = largest(most[k], load(x + from + k * kLanes));
    }
  }
  for (; from < n; from += kLanes) {
    most[0] = largest(most[0], load_some(x + from, n - from, *x));
  }
  const Vf limit = splat(largest_lane(
      largest(largest(most[0], most[1]), largest(most[2], most[3]))));
  // As sum_row adds up.
  double total = 0;
  for (int64_t first = 0; first < n; first += kPiece) {
    const int64_t end = first + kPiece < n ? first + kPiece : n;
    Vf piece = splat(0);
    int64_t i = first;
    for (; i + kLanes <= end; i += kLanes) {
      const Vf power = exp(sub(load(x + i), limit));
      store(y + i, power);
      piece = add(piece, power);
    }
    if (i < end) {
      store_some(y + i, exp(sub(load_some(x + i, end - i), limit)), end - i);
      piece = add(piece, load_some(y + i, end - i));
    }
    total += (double)sum(piece);
  }
  scale_row(y, n, (float)(1 / total), y);
}

}  // namespace rc::cpu::RC_CPU_LEVEL
