// CHOOSE: a group of one work-item chooses the experts of one row.

#include "common.cl"

// NaN counts as the least, so that every choice is a valid number.
INLINE float score_of(const global float* x, const global float* bias, int e,
                      float largest, float total, int sigmoid) {
  const float p = sigmoid ? 1.0f / (1.0f + exp(-x[e]))
                          : exp(x[e] - largest) / total;
  const float sum = bias == 0 ? p : p + bias[e];
  return isnan(sum) ? -INFINITY : sum;
}

#define BUFFERS(INPUT, OUTPUT)                        \
  COUNTS(INPUT) INPUT(float, x) INPUT(float, bias)    \
  OUTPUT(int, ids) OUTPUT(float, weights)
#define PARAMETERS(P)                                              \
  ROW_PARAMETERS(P) P(int, experts) P(int, chosen) P(int, sigmoid) \
  P(uint, normalize)
KERNEL(choose) {
  OPEN
  const ulong row = get_global_id(1);
  x += row * experts;
  ids += row * chosen;
  weights += row * chosen;
  float largest = x[0];
  for (int e = 1; e < experts; ++e) largest = fmax(largest, x[e]);
  float total = 0.0f;
  for (int e = 0; e < experts; ++e) total += exp(x[e] - largest);
  float sum = 0.0f;
  int last = -1;
  float last_score = 0.0f;
  for (int c = 0; c < chosen; ++c) {
    // The first in the order of falling scores, then rising numbers, that comes
    // after the last choice.
    int best = -1;
    float best_score = 0.0f;
    for (int e = 0; e < experts; ++e) {
      const float score = score_of(x, bias, e, largest, total, sigmoid);
      const bool after = last < 0 || score < last_score ||
                         (score == last_score && e > last);
      if (after && (best < 0 || score > best_score)) {
        best = e;
        best_score = score;
      }
    }
    last = best;
    last_score = best_score;
    ids[c] = best;
    weights[c] = score_of(x, 0, best, largest, total, sigmoid);
    sum += weights[c];
  }
  if (!normalize) return;
  for (int c = 0; c < chosen; ++c) weights[c] /= sum;
}
