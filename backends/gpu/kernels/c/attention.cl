// ATTENTION and GENERAL_ATTENTION: a group gives one head of one row; see attend_head.cl. A cache may
// be bound in up to four ranges of pages.
//
// Defined by the host: HEAD and VALUE, elements of a key and of a value;
// VALUE_STEP, those from value to value; RANGES; MORE, 1 where scores have what
// only GENERAL_ATTENTION has; see cache.cl.

#include "common.cl"
#include "cache.cl"

typedef struct {
  Places places;
  const global uchar* keys[RANGES];
  const global uchar* values[RANGES];
  uint range_pages;
  uint sequence;
  uint head;
#if MORE
  int row;  // its position
  float slope;
  const global float* distances;  // 0: none
  int most;                       // the span is twice that, and 1
#endif
} Where;

// Where the vectors of a position are, in keys as in values: number `at` of a
// range.
typedef struct {
  uint range;
  ulong at;
} Place;

INLINE Place place_at(const Where* where, int position) {
  const uint page = page_of(&where->places, where->sequence, position);
#if RANGES == 1
  const uint range = 0;
  const uint local_page = page;
#else
  const uint range = page / where->range_pages;
  const uint local_page = page % where->range_pages;
#endif
  const Place place = {
      range, vector_of(&where->places, local_page, position, where->head)};
  return place;
}

INLINE const global uchar* key_of(const Where* where, Place place) {
  return where->keys[place.range] + place.at * VECTOR_BYTES(HEAD);
}

INLINE const global uchar* value_of(const Where* where, Place place) {
  return where->values[place.range] + place.at * VECTOR_BYTES(VALUE_STEP);
}

#if MORE
INLINE float add_terms(const Where* where, int position, float score) {
  const int distance = position - where->row;
  score -= where->slope * (float)(distance < 0 ? -distance : distance);
  if (where->distances != 0) {
    score += where->distances[clamp(distance, -where->most, where->most) +
                              where->most];
  }
  return score;
}
#define ADD_TERMS(where, position, score) add_terms(where, position, score)
#endif

#include "attend_head.cl"

// bounds: the positions of rows; if these see whole sequences, their lengths.
// own: the positions of rows in any case.
#define BUFFERS(INPUT, OUTPUT)                                                \
  COUNTS(INPUT) INPUT(float, query) INPUT(int, bounds) INPUT(uint, sequences) \
  INPUT(uint, page_table) INPUT(float, sinks) INPUT(float, slopes)            \
  INPUT(float, distances) OUTPUT(float, out) INPUT(int, own)                  \
  INPUT(uchar, keys0) INPUT(uchar, keys1) INPUT(uchar, keys2)                 \
  INPUT(uchar, keys3) INPUT(uchar, values0) INPUT(uchar, values1)             \
  INPUT(uchar, values2) INPUT(uchar, values3)
#define PARAMETERS(P)                                                   \
  ROW_PARAMETERS(P) P(uint, kv_heads) P(uint, page_size) P(uint, pages) \
  P(uint, entries) P(uint, range_pages) P(uint, heads) P(uint, window)  \
  P(float, scale) P(float, cap) P(uint, has_sinks) P(uint, whole)       \
  P(uint, chunk) P(float, temperature) P(uint, temperature_length)      \
  P(uint, has_slopes) P(uint, span)
KERNEL(attention) {
  OPEN
  ATTENTION_ROOM
  const uint head = get_group_id(0);
  const ulong row = get_global_id(1);
  // Places that do not exist become some that do.
  const uint sequence = sequences[row] < counts[2] ? sequences[row] : 0;
  const int positions = entries * page_size;
  int last = whole ? clamp(bounds[sequence], 1, positions) - 1
                   : clamp(bounds[row], 0, positions - 1);
  int middle = last;
  if (whole && window > 0) {
    middle = clamp(own[row], 0, last);
    // The window may be the largest number.
    if (last - middle >= (int)window) last = middle + (int)window - 1;
  }
  int first = window > 0 ? max(0, middle - (int)window + 1) : 0;
#if MORE
  if (chunk > 0) first = last - last % (int)chunk;
  if (temperature > 0.0f) {
    const uint lengths = ((uint)last + 1) / temperature_length;
    scale *= 1.0f + temperature * log(1.0f + (float)lengths);
  }
#endif
  Where where;
  const Places places = {page_table, entries, page_size, pages, kv_heads};
  where.places = places;
  where.range_pages = range_pages;
  where.sequence = sequence;
  where.head = head / (heads / kv_heads);
  where.keys[0] = keys0;
  where.values[0] = values0;
#if RANGES > 1
  where.keys[1] = keys1;
  where.values[1] = values1;
#endif
#if RANGES > 2
  where.keys[2] = keys2;
  where.values[2] = values2;
#endif
#if RANGES > 3
  where.keys[3] = keys3;
  where.values[3] = values3;
#endif
#if MORE
  where.row = clamp(own[row], 0, positions - 1);
  where.slope = has_slopes ? slopes[head] : 0.0f;
  where.distances = span > 0 ? distances + head * span : 0;
  where.most = span / 2;
#endif
  const ulong at = row * heads + head;
  attend_head(query + at * HEAD, &where, first, last, scale, cap,
              has_sinks ? sinks[head] : -INFINITY, get_local_id(0),
              out + at * VALUE, sums, all_largest, all_totals);
}
