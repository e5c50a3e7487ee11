#version 450
#extension GL_GOOGLE_include_directive : require
// ATTEND: a work-group has one head of one row and goes through the positions
// as ATTENTION does (attention.comp), without pages.
#include "tensor.glsl"
#include "math.glsl"
#include "reduce.glsl"

CONSTANT(1, uint, kHead, 64)  // elements of a head
#define kEach ((kHead + kLanes - 1) / kLanes)  // of a lane

INPUT(1, q)
INPUT(2, keys)
INPUT(3, values)
OUTPUT(8, float, y)

PARAMETERS {
  GROUP_PARAMETERS
  uint q_base;
  uint keys_base;
  uint values_base;
  uint y_base;
  uint rows;
  uint positions;
  uint heads;
  uint kv_heads;
  uint d;
  uint causal;
  float scale;
  float softcap;
}
p;

float query[SIZE(1, kEach)];
float sums[SIZE(1, kEach)];

// Vectors are given by their first element, counted from the first of all.
#ifdef TEXELS

#define EACH8(step) \
  step(0) step(1) step(2) step(3) step(4) step(5) step(6) step(7)

float score_of(uint key) {
  const uint at = p.keys_base + key;
  float score = 0;
  [[unroll]] for (uint t = 0; t < kEach; ++t) {
#define STEP(i)                                                   \
  if (8 * t + i < p.d) {                                          \
    score = fma(subgroupShuffle(query[t], i),                     \
                NUMBER(keys, at + 8 * t + i), score);             \
  }
    EACH8(STEP)
#undef STEP
  }
  return score;
}

void add_values(float share, uint value, uint count) {
  const uint lane = gl_LocalInvocationIndex;
#define STEP(i)                                                          \
  if (i < count) {                                                       \
    const float one = subgroupShuffle(share, i);                         \
    const uint at = p.values_base + subgroupShuffle(value, i);           \
    [[unroll]] for (uint t = 0; t < kEach; ++t) {                        \
      const uint e = min(t * kLanes + lane, p.d - 1);                    \
      sums[t] = fma(one, NUMBER(values, at + e), sums[t]);               \
    }                                                                    \
  }
  EACH8(STEP)
#undef STEP
}

void share_query() {}

#else

shared float query_area[SIZE(2, kEach * kLanes)];
shared float shares[SIZE(3, kLanes)];
shared uint places[SIZE(3, kLanes)];

void share_query() {
  [[unroll]] for (uint t = 0; t < kEach; ++t) {
    query_area[t * kLanes + gl_LocalInvocationIndex] = query[t];
  }
  barrier();
}

float score_of(uint key) {
  float score = 0;
  for (uint i = 0; i < p.d; ++i) {
    score = fma(query_area[i], NUMBER(keys, p.keys_base + key + i), score);
  }
  return score;
}

void add_values(float share, uint value, uint count) {
  const uint lane = gl_LocalInvocationIndex;
  barrier();
  shares[lane] = share;
  places[lane] = value;
  barrier();
  for (uint j = 0; j < count; ++j) {
    const float one = shares[j];
    const uint at = p.values_base + places[j];
    [[unroll]] for (uint t = 0; t < kEach; ++t) {
      const uint e = min(t * kLanes + lane, p.d - 1);
      sums[t] = fma(one, NUMBER(values, at + e), sums[t]);
    }
  }
}

#endif

void main() {
  const uint group = GROUP;
  if (NOTHING_TO_DO(group)) return;
  const uint head = group % p.heads;
  const uint row = group / p.heads % p.rows;
  const uint batch = group / p.heads / p.rows;
  const uint kv_head = head / (p.heads / p.kv_heads);
  const uint lane = gl_LocalInvocationIndex;
  const uint begin = group * p.d;
  [[unroll]] for (uint t = 0; t < kEach; ++t) {
    query[t] =
        NUMBER(q, p.q_base + begin + min(t * kLanes + lane, p.d - 1));
    sums[t] = 0;
  }
  share_query();

  const uint seen =
      p.causal != 0 ? p.positions - p.rows + row + 1 : p.positions;
  float largest = NEGATIVE_INFINITY;
  float total = 0;
  for (uint chunk = 0; chunk < seen; chunk += kLanes) {
    const uint position = min(chunk + lane, seen - 1);
    const uint vector =
        ((batch * p.positions + position) * p.kv_heads + kv_head) * p.d;
    float score = score_of(vector) * p.scale;
    if (p.softcap > 0) score = p.softcap * exact_tanh(score / p.softcap);
    if (chunk + lane >= seen) score = NEGATIVE_INFINITY;
    const float larger = max(largest, reduce_max(score));
    const float share = chunk + lane < seen ? exact_exp(score - larger) : 0.0;
    const float fading = chunk == 0 ? 0.0 : exact_exp(largest - larger);
    largest = larger;
    total = fma(total, fading, reduce_add(share));
    [[unroll]] for (uint t = 0; t < kEach; ++t) sums[t] *= fading;
    add_values(share, vector, min(kLanes, seen - chunk));
  }
  [[unroll]] for (uint t = 0; t < kEach; ++t) {
    const uint i = t * kLanes + lane;
    if (i < p.d) y[p.y_base + begin + i] = sums[t] / total;
  }
}
