#version 450
#extension GL_GOOGLE_include_directive : require
// ATTENTION and GENERAL_ATTENTION: a work-group has one head of one row. It goes through the
// positions in chunks of as many as it has lanes: first a lane has a position
// and computes its score, then a lane has elements of the result and adds the
// chunk's values. What was summed before is scaled down when a larger score
// appears (Milakov and Gimelshein 2018, arXiv:1805.02867).
//
// A cache may be bound in up to four ranges.
#include "common.glsl"
#include "math.glsl"
#include "reduce.glsl"

CONSTANT(1, uint, kType, 0)  // 0: F32, 1: F16, 2: Q8_0
CONSTANT(2, uint, kHead, 64)  // elements of a key
CONSTANT(3, uint, kRanges, 1)
CONSTANT(4, uint, kValue, 64)  // elements of a value ...
CONSTANT(5, uint, kValueStep, 64)  // ... and to the next
// Scores have what only GENERAL_ATTENTION has.
CONSTANT(6, uint, kMore, 0)

INPUT(1, q)
INPUT(2, positions)  // of rows; if these see whole sequences: their lengths
INPUT(3, sequences)
INPUT(4, page_table)
INPUT(5, sinks)
INPUT(6, slopes)
INPUT(7, distances)
OUTPUT(8, float, y)
INPUT(9, own)  // positions of rows in any case
INPUT(10, keys0)
INPUT(11, keys1)
INPUT(12, keys2)
INPUT(13, keys3)
INPUT(14, values0)
INPUT(15, values1)
INPUT(16, values2)
INPUT(17, values3)

PARAMETERS {
  ROW_PARAMETERS
  uint kv_heads;
  uint page_size;
  uint pages;
  uint table_width;
  uint range_pages;  // in each bound range but the last
  uint heads;
  uint window;
  float scale;
  float softcap;
  uint has_sinks;
  uint whole;
  uint chunk;
  float temperature;
  uint temperature_length;
  uint has_slopes;
  uint span;
}
p;

#include "cache.glsl"

// A vector of the cache: the range, and its number there.
struct Place {
  uint range;
  uint vector;
};

Place place_of(uint page, uint position, uint head) {
  const uint range = kRanges == 1 ? 0 : page / p.range_pages;
  const uint local = kRanges == 1 ? page : page % p.range_pages;
  return Place(range, (local * p.kv_heads + head) * p.page_size +
                          position % p.page_size);
}

uint key_word(uint range, uint i) {
  if (kRanges > 1 && range == 1) return WORD(keys1, i);
  if (kRanges > 2 && range == 2) return WORD(keys2, i);
  if (kRanges > 3 && range == 3) return WORD(keys3, i);
  return WORD(keys0, i);
}

uint value_word(uint range, uint i) {
  if (kRanges > 1 && range == 1) return WORD(values1, i);
  if (kRanges > 2 && range == 2) return WORD(values2, i);
  if (kRanges > 3 && range == 3) return WORD(values3, i);
  return WORD(values0, i);
}

// Decodes element i of the vector at `place`. `word` reads the cache, whose
// vectors are `step` elements apart.
#define ELEMENT(word, step, place, i, result)                             \
  if (kType == 0) {                                                       \
    result = uintBitsToFloat(word(place.range, place.vector * step + (i))); \
  } else if (kType == 1) {                                                \
    const uint at = place.vector * step + (i);                             \
    result = half_to_float((word(place.range, at / 2) >> (at % 2 * 16)) & \
                           0xFFFFu);                                      \
  } else {                                                                \
    const uint half_ = (place.vector * (step / 32) + (i) / 32) * 17;       \
    const float scale = half_to_float(                                    \
        (word(place.range, half_ / 2) >> (half_ % 2 * 16)) & 0xFFFFu);    \
    const uint byte_ = 2 * half_ + 2 + (i) % 32;                            \
    const uint bits = word(place.range, byte_ / 4);                       \
    result = scale * float(int(bits << (24 - byte_ % 4 * 8)) >> 24);      \
  }

// Elements of a lane.
#define kEach ((kHead + kLanes - 1) / kLanes)
#define kEachValue ((kValue + kLanes - 1) / kLanes)

float query[SIZE(1, kEach)];
float sums[SIZE(2, kEachValue)];

#ifdef TEXELS

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

void share_query() {}

#else

shared float query_area[SIZE(3, kHead)];
shared float shares[SIZE(4, kLanes)];
shared Place places[SIZE(4, kLanes)];

void share_query() {
  [[unroll]] for (uint t = 0; t < kEach; ++t) {
    const uint i = t * kLanes + gl_LocalInvocationIndex;
    if (i < kHead) query_area[i] = query[t];
  }
  barrier();
}

float score_of(Place place) {
  float score = 0;
  for (uint i = 0; i < kHead; ++i) {
    float key;
    ELEMENT(key_word, kHead, place, i, key)
    score = fma(query_area[i], key, score);
  }
  return score;
}

void add_values(float share, Place place, uint count) {
  const uint lane = gl_LocalInvocationIndex;
  barrier();
  shares[lane] = share;
  places[lane] = place;
  barrier();
  for (uint j = 0; j < count; ++j) {
    const float one = shares[j];
    const Place from = places[j];
    [[unroll]] for (uint t = 0; t < kEachValue; ++t) {
      const uint i = t * kLanes + lane;
      if (i < kValue) {
        float value;
        ELEMENT(value_word, kValueStep, from, i, value)
        sums[t] = fma(one, value, sums[t]);
      }
    }
  }
}

#endif

// The score with what depends on the position.
float with_terms(float score, uint row, uint head, uint position) {
  const int distance = int(position) - int(WORD(own, row));
  if (p.has_slopes != 0) {
    score -= NUMBER(slopes, head) * float(abs(distance));
  }
  if (p.span > 0) {
    const int most = int(p.span / 2);
    score += NUMBER(distances,
                    head * p.span + uint(clamp(distance, -most, most) + most));
  }
  return score;
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
  share_query();

  const uint sequence = WORD(sequences, row);
  uint last = p.whole == 0
                  ? WORD(positions, row)
                  : WORD(positions, min(sequence, counts[2] - 1)) - 1;
  uint middle = last;
  if (p.whole != 0 && p.window != 0) {
    middle = min(WORD(own, row), last);
    last = min(last, middle + p.window - 1);
  }
  uint first =
      p.window == 0 || middle < p.window ? 0 : middle - p.window + 1;
  float scale = p.scale;
  if (kMore != 0) {
    if (p.chunk > 0) first = last / p.chunk * p.chunk;
    if (p.temperature > 0) {
      const float lengths = float((last + 1) / p.temperature_length);
      scale *= 1 + p.temperature * log(1 + lengths);
    }
  }
  // A sink counts as a position that was seen before, of values that are zero.
  const bool sink = p.has_sinks != 0;
  float largest = sink ? NUMBER(sinks, head) : NEGATIVE_INFINITY;
  float total = sink ? 1 : 0;
  const uint reach = p.table_width * p.page_size;
  const uint end = last < reach ? last + 1 : first;  // nothing if beyond
  for (uint chunk = first; chunk < end; chunk += kLanes) {
    const uint position = min(chunk + lane, last);
    const uint page = page_of(sequence, position);
    const bool seen = chunk + lane <= last && page != kNowhere;
    const Place place =
        place_of(page == kNowhere ? 0 : page, position, kv_head);
    float score = score_of(place) * scale;
    if (p.softcap > 0) score = p.softcap * exact_tanh(score / p.softcap);
    if (kMore != 0) score = with_terms(score, row, head, position);
    if (!seen) score = NEGATIVE_INFINITY;
    const float larger = max(largest, reduce_max(score));
    const float share = seen ? exact_exp(score - larger) : 0.0;
    const float fading = chunk == first && !sink ? 0.0 : exact_exp(largest - larger);
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
