// SPARSE_MIX: a group of one work-item chooses the experts of one row.

#include "common.cl"

// NaN counts as the least, so that every choice is a valid number.
INLINE float known(float x) { return isnan(x) ? -FLT_MAX : x; }

// Whether expert e is behind the last choice, in the order of falling numbers,
// then rising experts.
INLINE bool is_left(float x, int e, int last, float last_x) {
  return last < 0 || x < last_x || (x == last_x && e > last);
}

#define BUFFERS(INPUT, OUTPUT)     \
  COUNTS(INPUT) INPUT(float, x)    \
  OUTPUT(int, ids) OUTPUT(float, weights)
#define PARAMETERS(P) \
  ROW_PARAMETERS(P) P(int, experts) P(int, chosen) P(float, margin)
KERNEL(sparse_mix) {
  OPEN
  const ulong row = get_global_id(1);
  x += row * experts;
  ids += row * chosen;
  weights += row * chosen;
  int last = -1;
  float last_x = 0.0f;
  for (int c = 0; c < chosen; ++c) {
    int best = -1;
    float most = 0.0f;
    for (int e = 0; e < experts; ++e) {
      const float v = known(x[e]);
      if (is_left(v, e, last, last_x) && (best < 0 || v > most)) {
        best = e;
        most = v;
      }
    }
    float total = 0.0f;
    for (int e = 0; e < experts; ++e) {
      const float v = known(x[e]);
      const bool far = most - v > margin * fmax(fabs(v), most);
      if (is_left(v, e, last, last_x) && !far) total += exp(v - most);
    }
    last = best;
    last_x = most;
    ids[c] = best;
    weights[c] = 1.0f / total;
  }
}
