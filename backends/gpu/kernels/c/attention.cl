// ATTENTION: a group gives one head of one row; see attend_head.cl. A cache may
// be bound in up to four ranges of pages.
//
// Defined by the host: HEAD, elements of a head; RANGES; see cache.cl.

#include "common.cl"
#include "cache.cl"

typedef struct {
  Places places;
  const global uchar* keys[RANGES];
  const global uchar* values[RANGES];
  uint range_pages;
  uint sequence;
  uint head;
} Where;

// Where the vectors of a position are, in keys as in values.
typedef struct {
  uint range;
  ulong at;  // bytes
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
      range, vector_of(&where->places, local_page, position, where->head) *
                 VECTOR_BYTES(HEAD)};
  return place;
}

INLINE const global uchar* key_of(const Where* where, Place place) {
  return where->keys[place.range] + place.at;
}

INLINE const global uchar* value_of(const Where* where, Place place) {
  return where->values[place.range] + place.at;
}

#include "attend_head.cl"

// bounds: the positions of rows; if these see whole sequences, their lengths,
// and if within a window, sinks are the positions.
#define BUFFERS(INPUT, OUTPUT)                                                \
  COUNTS(INPUT) INPUT(float, query) INPUT(int, bounds) INPUT(uint, sequences) \
  INPUT(uint, page_table) INPUT(float, sinks) OUTPUT(float, out)              \
  INPUT(uchar, keys0) INPUT(uchar, keys1) INPUT(uchar, keys2)                 \
  INPUT(uchar, keys3) INPUT(uchar, values0) INPUT(uchar, values1)             \
  INPUT(uchar, values2) INPUT(uchar, values3)
#define PARAMETERS(P)                                                   \
  ROW_PARAMETERS(P) P(uint, kv_heads) P(uint, page_size) P(uint, pages) \
  P(uint, entries) P(uint, range_pages) P(uint, heads) P(uint, window)  \
  P(float, scale) P(float, cap) P(uint, has_sinks) P(uint, whole)
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
  int own = last;
  if (whole && window > 0) {
    own = clamp(((const global int*)sinks)[row], 0, last);
    // The window may be the largest number.
    if (last - own >= (int)window) last = own + (int)window - 1;
  }
  const int first = window > 0 ? max(0, own - (int)window + 1) : 0;
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
  const ulong at = (row * heads + head) * HEAD;
  attend_head(query + at, &where, first, last, scale, cap,
              has_sinks ? sinks[head] : -INFINITY, get_local_id(0), out + at,
              sums, all_largest, all_totals);
}
