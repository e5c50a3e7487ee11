#version 450
#extension GL_GOOGLE_include_directive : require
// ATTENTION and GENERAL_ATTENTION: a work-group has one head, of one row or of
// several. It goes through the positions in chunks of as many as it has lanes:
// first a lane has a position and computes its score, then a lane has elements
// of the result and adds the chunk's values. What was summed before is scaled
// down when a larger score appears (Milakov and Gimelshein 2018,
// arXiv:1805.02867).
//
// A cache may be bound in up to four ranges.
#include "common.glsl"
#include "math.glsl"

CONSTANT(1, uint, kType, 0)  // 0: F32, 1: F16, 2: Q8_0
CONSTANT(2, uint, kHead, 64)  // elements of a key
CONSTANT(3, uint, kRanges, 1)
CONSTANT(4, uint, kValue, 64)  // elements of a value ...
CONSTANT(5, uint, kValueStep, 64)  // ... and to the next
// Scores have what only GENERAL_ATTENTION has.
CONSTANT(6, uint, kMore, 0)

INPUT_BOTH(1, q)
INPUT(2, positions)  // of rows; if these see whole sequences: their lengths
INPUT(3, sequences)
INPUT(4, page_table)
INPUT(5, sinks)
INPUT(6, slopes)
INPUT(7, distances)
OUTPUT(8, float, y)
INPUT(9, own)  // positions of rows in any case
INPUT_BOTH(10, keys0)
INPUT_BOTH(11, keys1)
INPUT_BOTH(12, keys2)
INPUT_BOTH(13, keys3)
INPUT_BOTH(14, values0)
INPUT_BOTH(15, values1)
INPUT_BOTH(16, values2)
INPUT_BOTH(17, values3)

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
  if (kRanges > 1 && range == 1) return WORD_OF(keys1, i);
  if (kRanges > 2 && range == 2) return WORD_OF(keys2, i);
  if (kRanges > 3 && range == 3) return WORD_OF(keys3, i);
  return WORD_OF(keys0, i);
}

uint value_word(uint range, uint i) {
  if (kRanges > 1 && range == 1) return WORD_OF(values1, i);
  if (kRanges > 2 && range == 2) return WORD_OF(values2, i);
  if (kRanges > 3 && range == 3) return WORD_OF(values3, i);
  return WORD_OF(values0, i);
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

// The positions that a row sees, from `first` on; none if `end` is no larger.
struct Span {
  uint sequence;
  uint first;
  uint end;
  float scale;  // of its scores
};

Span span_of(uint row) {
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
  const uint reach = p.table_width * p.page_size;
  return Span(sequence, first, last < reach ? last + 1 : first, scale);
}

#ifdef TEXELS
#include "attention_shuffled.glsl"
#else
#include "attention_shared.glsl"
#endif
