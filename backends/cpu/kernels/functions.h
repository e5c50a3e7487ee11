// Functions of single elements, and how rows of them are walked along.
#pragma once

#include "cpu/kernels/math.h"

namespace rc::cpu::RC_CPU_LEVEL {

constexpr float kRoot2OverPi = 0.797884561f;

RC_SIMD Vf silu(const Vf& x) {
  return div(x, add(splat(1.0f), exp(sub(splat(0), x))));
}

RC_SIMD Vf gelu_tanh(const Vf& x) {
  const Vf cube = mul(mul(x, x), x);
  const Vf inner = mul(splat(kRoot2OverPi), fma(cube, splat(0.044715f), x));
  return mul(mul(splat(0.5f), x), add(splat(1.0f), tanh(inner)));
}

RC_SIMD Vf gelu(const Vf& x) {
  const Vf tail = erfc(mul(largest(x, sub(splat(0), x)), splat(0.707106781f)));
  const Vf twice = if_less(x, splat(0), tail, sub(splat(2.0f), tail));
  return mul(mul(splat(0.5f), x), twice);
}

RC_SIMD Vf sigmoid(const Vf& x) {
  return div(splat(1.0f), add(splat(1.0f), exp(sub(splat(0), x))));
}

RC_SIMD Vf gelu_quick(const Vf& x) {
  return div(x, add(splat(1.0f), exp(mul(x, splat(-1.702f)))));
}

RC_SIMD Vf relu(const Vf& x) { return largest(splat(0), x); }

RC_SIMD Vf negated(const Vf& x) { return sub(splat(-0.0f), x); }

// The sum of the n numbers at x, which in F32 is `sum`: added up as doubles if
// that has overflowed.
RC_SIMD double exact_sum(float sum, const float* x, int64_t n) {
  if (sum - sum == 0.0f) return (double)sum;
  double total = 0;
  for (int64_t i = 0; i < n; ++i) total += (double)x[i];
  return total;
}

// y[i] = f(a[i], b[i]), the last lanes through a buffer, so that where an
// element stands does not matter.
template <class Function>
RC_SIMD void each(const float* a, const float* b, int64_t n, float* y,
                  Function f) {
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes)
    store(y + i, f(load(a + i), load(b + i)));
  if (i < n) {
    store_some(y + i, f(load_some(a + i, n - i), load_some(b + i, n - i)),
               n - i);
  }
}

}  // namespace rc::cpu::RC_CPU_LEVEL
