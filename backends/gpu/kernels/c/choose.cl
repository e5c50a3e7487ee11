// CHOOSE and CHOOSE_IN_GROUPS: a group of one work-item chooses the experts of one
// row.
//
// Defined by the host: EXPERT_GROUPS, at most 64.

#include "common.cl"

// NaN counts as the least, so that every choice is a valid number.
INLINE float score_of(const global float* x, const global float* bias, int e,
                      float largest, float total, int sigmoid) {
  const float p = sigmoid ? 1.0f / (1.0f + exp(-x[e]))
                          : exp(x[e] - largest) / total;
  const float sum = bias == 0 ? p : p + bias[e];
  return isnan(sum) ? -INFINITY : sum;
}

#ifndef EXPERT_GROUPS_ROOM
#define EXPERT_GROUPS_ROOM EXPERT_GROUPS
#endif

// A bit for each group that has a larger score, or the same and a lower number,
// than all but used - 1 others.
INLINE ulong used_groups(const global float* x, const global float* bias,
                         int each, float largest, float total, int sigmoid,
                         int used, int best) {
  float scores[EXPERT_GROUPS_ROOM];
  for (int g = 0; g < EXPERT_GROUPS; ++g) {
    float first = -INFINITY;
    float second = -INFINITY;
    for (int e = g * each; e < (g + 1) * each; ++e) {
      const float score = score_of(x, bias, e, largest, total, sigmoid);
      second = fmax(second, fmin(first, score));
      first = fmax(first, score);
    }
    scores[g] = best == 2 ? first + second : first;
  }
  ulong bits = 0;
  for (int g = 0; g < EXPERT_GROUPS; ++g) {
    int better = 0;
    for (int o = 0; o < EXPERT_GROUPS; ++o) {
      better += scores[o] > scores[g] || (scores[o] == scores[g] && o < g);
    }
    if (better < used) bits |= (ulong)1 << g;
  }
  return bits;
}

#define BUFFERS(INPUT, OUTPUT)                        \
  COUNTS(INPUT) INPUT(float, x) INPUT(float, bias)    \
  OUTPUT(int, ids) OUTPUT(float, weights)
#define PARAMETERS(P)                                              \
  ROW_PARAMETERS(P) P(int, experts) P(int, chosen) P(int, sigmoid) \
  P(uint, normalize) P(uint, has_bias) P(int, groups_used) P(int, best_of)
KERNEL(choose) {
  OPEN
  const ulong row = get_global_id(1);
  x += row * experts;
  if (!has_bias) bias = 0;
  ids += row * chosen;
  weights += row * chosen;
  float largest = x[0];
  for (int e = 1; e < experts; ++e) largest = fmax(largest, x[e]);
  float total = 0.0f;
  for (int e = 0; e < experts; ++e) total += exp(x[e] - largest);
  const int each = experts / EXPERT_GROUPS;
  const ulong used =
      EXPERT_GROUPS == 1 ? 1
                         : used_groups(x, bias, each, largest, total, sigmoid,
                                       groups_used, best_of);
  float sum = 0.0f;
  int last = -1;
  float last_score = 0.0f;
  for (int c = 0; c < chosen; ++c) {
    // The first in the order of falling scores, then rising numbers, that comes
    // after the last choice.
    int best = -1;
    float best_score = 0.0f;
    for (int e = 0; e < experts; ++e) {
      if (EXPERT_GROUPS > 1 && (used >> (e / each) & 1) == 0) continue;
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
