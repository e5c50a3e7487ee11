// ATTENTION where a work-group is a sub-group of eight lanes that shuffle: it
// has one head of one row.
#include "reduce.glsl"

// Elements of a lane.
#define kEach ((kHead + kLanes - 1) / kLanes)
#define kEachValue ((kValue + kLanes - 1) / kLanes)

float query[SIZE(1, kEach)];
float sums[SIZE(2, kEachValue)];

// Element 8 t + i of q, for a constant i.
#define QUERY(t, i) subgroupShuffle(query[t], i)
#define EACH8(step) \
  step(0) step(1) step(2) step(3) step(4) step(5) step(6) step(7)

float score_of(Place place) {
  float score = 0;
  [[unroll]] for (uint t = 0; t < kEach; ++t) {
    if (kType == 1 && kHead % 2 == 0) {
      // Two elements to a word.
      const uint at = place.vector * (kHead / 2) + 4 * t;
#define STEP(i)                                                       \
  if (8 * t + 2 * i < kHead) {                                        \
    const uint word = key_word(place.range, at + i);                  \
    score = fma(QUERY(t, 2 * i), half_to_float(word & 0xFFFFu), score); \
    score = fma(QUERY(t, 2 * i + 1), half_to_float(word >> 16), score); \
  }
      STEP(0) STEP(1) STEP(2) STEP(3)
#undef STEP
    } else {
#define STEP(i)                                   \
  if (8 * t + i < kHead) {                        \
    float key;                                    \
    ELEMENT(key_word, kHead, place, 8 * t + i, key)      \
    score = fma(QUERY(t, i), key, score);         \
  }
      EACH8(STEP)
#undef STEP
    }
  }
  return score;
}

void add_value(float share, Place place) {
  const uint lane = gl_LocalInvocationIndex;
  [[unroll]] for (uint t = 0; t < kEachValue; ++t) {
    const uint i = min(t * kLanes + lane, kValue - 1);
    float value;
    ELEMENT(value_word, kValueStep, place, i, value)
    sums[t] = fma(share, value, sums[t]);
  }
}

void add_values(float share, Place place, uint count) {
#define STEP(i)                                                    \
  if (i < count) {                                                 \
    add_value(subgroupShuffle(share, i),                         \
              Place(subgroupShuffle(place.range, i),             \
                    subgroupShuffle(place.vector, i)));          \
  }
  EACH8(STEP)
#undef STEP
}

void main() {
  const uint row = gl_WorkGroupID.y;
  if (row >= ROW_COUNT) return;
  const uint head = gl_WorkGroupID.x;
  const uint kv_head = head / (p.heads / p.kv_heads);
  const uint lane = gl_LocalInvocationIndex;
  const uint begin = (row * p.heads + head) * kHead;
  [[unroll]] for (uint t = 0; t < kEach; ++t) {
    const uint i = t * kLanes + lane;
    query[t] = NUMBER(q, begin + min(i, kHead - 1));
  }
  [[unroll]] for (uint t = 0; t < kEachValue; ++t) sums[t] = 0;

  const Span span = span_of(row);
  const uint first = span.first;
  const uint end = span.end;
  // A sink counts as a position that was seen before, of values that are zero.
  const bool sink = p.has_sinks != 0;
  float largest = sink ? NUMBER(sinks, head) : NEGATIVE_INFINITY;
  float total = sink ? 1 : 0;
  for (uint chunk = first; chunk < end; chunk += kLanes) {
    const uint position = min(chunk + lane, end - 1);
    const uint page = page_of(span.sequence, position);
    const bool seen = chunk + lane < end && page != kNowhere;
    const Place place =
        place_of(page == kNowhere ? 0 : page, position, kv_head);
    float score = score_of(place) * span.scale;
    if (p.softcap > 0) score = p.softcap * exact_tanh(score / p.softcap);
    if (kMore != 0) score = with_terms(score, row, head, position);
    if (!seen) score = NEGATIVE_INFINITY;
    const float larger = max(largest, reduce_max(score));
    const float share = seen ? exact_exp(score - larger) : 0.0;
    const float fading =
        chunk == first && !sink ? 0.0 : exact_exp(largest - larger);
    largest = larger;
    total = fma(total, fading, reduce_add(share));
    [[unroll]] for (uint t = 0; t < kEachValue; ++t) sums[t] *= fading;
    add_values(share, place, min(kLanes, end - chunk));
  }
  const uint result = (row * p.heads + head) * kValue;
  [[unroll]] for (uint t = 0; t < kEachValue; ++t) {
    const uint i = t * kLanes + lane;
    if (i < kValue) y[result + i] = total > 0 ? sums[t] / total : 0.0;
  }
}
