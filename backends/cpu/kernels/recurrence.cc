// Kernels of the ops that carry a state from row to row.
#include "cpu/kernels/levels.h"
#include "cpu/kernels/math.h"

namespace rc::cpu::RC_CPU_LEVEL {

void scan_head(const ScanRow& row, int64_t p, int64_t n, float* state,
               float* y) {
  const Vf kept = splat(row.kept);
  for (int64_t i = 0; i < p; ++i, state += n) {
    const Vf added = splat(row.step * row.x[i]);
    Vf product = splat(0);
    for (int64_t j = 0; j < n; j += kLanes) {
      const Vf s = fma(added, load_some(row.b + j, n - j),
                       mul(kept, load_some(state + j, n - j)));
      store_some(state + j, s, n - j);
      product = fma(s, load_some(row.c + j, n - j), product);
    }
    y[i] = row.skip * row.x[i] + sum(product);
  }
}

void scan_channels(const ChannelRow& row, int64_t count, int64_t n,
                   float* state, float* y) {
  const float* decay = row.decay;
  for (int64_t i = 0; i < count; ++i, state += n, decay += n) {
    const Vf step = splat(row.steps[i]);
    const Vf added = splat(row.steps[i] * row.x[i]);
    Vf product = splat(0);
    for (int64_t j = 0; j < n; j += kLanes) {
      const Vf kept = exp(mul(step, load_some(decay + j, n - j)));
      const Vf s = fma(added, load_some(row.b + j, n - j),
                       mul(kept, load_some(state + j, n - j)));
      store_some(state + j, s, n - j);
      product = fma(s, load_some(row.c + j, n - j), product);
    }
    y[i] = row.skip[i] * row.x[i] + sum(product);
  }
}

void delta_head(const DeltaRow& row, int64_t p, int64_t n, float* state,
                float* y) {
  const Vf kept = splat(row.kept);
  for (int64_t i = 0; i < p; ++i, state += n) {
    Vf known = splat(0);
    for (int64_t j = 0; j < n; j += kLanes) {
      known =
          fma(load_some(state + j, n - j), load_some(row.k + j, n - j), known);
    }
    const Vf change = splat(row.rate * (row.v[i] - row.kept * sum(known)));
    Vf product = splat(0);
    for (int64_t j = 0; j < n; j += kLanes) {
      const Vf s = fma(change, load_some(row.k + j, n - j),
                       mul(kept, load_some(state + j, n - j)));
      store_some(state + j, s, n - j);
      product = fma(s, load_some(row.q + j, n - j), product);
    }
    y[i] = sum(product);
  }
}

void fading_head(const FadingRow& row, int64_t p, int64_t n, float* state,
                 float* y) {
  const bool corrects = row.a != nullptr;
  // The vector with which a column is read before it changes.
  const float* first = corrects ? row.a : row.q;
  for (int64_t i = 0; i < p; ++i, state += n) {
    Vf before = splat(0);
    for (int64_t j = 0; j < n; j += kLanes) {
      before =
          fma(load_some(state + j, n - j), load_some(first + j, n - j), before);
    }
    const float found = sum(before);
    const Vf known = splat(found);
    const Vf value = splat(row.v[i]);
    Vf after = splat(0);
    for (int64_t j = 0; j < n; j += kLanes) {
      Vf s =
          fma(value, load_some(row.k + j, n - j),
              mul(load_some(row.kept + j, n - j), load_some(state + j, n - j)));
      if (corrects) s = fma(known, load_some(row.b + j, n - j), s);
      store_some(state + j, s, n - j);
      after = fma(s, load_some(row.q + j, n - j), after);
    }
    y[i] = corrects ? sum(after) : found;
  }
}

void multiply_add(const float* x, const float* weights, int64_t n, float* y) {
  for (int64_t i = 0; i < n; i += kLanes) {
    store_some(y + i,
               fma(load_some(x + i, n - i), load_some(weights + i, n - i),
                   load_some(y + i, n - i)),
               n - i);
  }
}

}  // namespace rc::cpu::RC_CPU_LEVEL
