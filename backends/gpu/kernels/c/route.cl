// ROUTE: a group of one work-item chooses the experts of one row.

#include "common.cl"

// NaN counts as the least, so that every choice is a valid number.
INLINE float logit(const global float* x, int e) {
  return isnan(x[e]) ? -INFINITY : x[e];
}

#define BUFFERS(INPUT, OUTPUT) \
  COUNTS(INPUT) INPUT(float, x) OUTPUT(int, ids) OUTPUT(float, weights)
#define PARAMETERS(P) \
  ROW_PARAMETERS(P) P(int, experts) P(int, chosen) P(uint, normalize)
KERNEL(route) {
  OPEN
  const ulong row = get_global_id(1);
  x += row * experts;
  ids += row * chosen;
  weights += row * chosen;
  float largest = logit(x, 0);
  for (int e = 1; e < experts; ++e) largest = fmax(largest, logit(x, e));
  float total = 0.0f;
  for (int e = 0; e < experts; ++e) total += exp(x[e] - largest);
  float sum = 0.0f;
  int last = -1;
  for (int c = 0; c < chosen; ++c) {
    // The first in the order of falling logits, then rising numbers, that comes
    // after the last choice.
    int best = -1;
    for (int e = 0; e < experts; ++e) {
      const bool after =
          last < 0 || logit(x, e) < logit(x, last) ||
          (logit(x, e) == logit(x, last) && e > last);
      if (after && (best < 0 || logit(x, e) > logit(x, best))) best = e;
    }
    last = best;
    ids[c] = best;
    weights[c] = exp(x[best] - largest) / total;
    sum += weights[c];
  }
  if (!normalize) return;
  for (int c = 0; c < chosen; ++c) weights[c] /= sum;
}
