// REDUCE, ARGMAX and SOFTMAX over the middle dimension of x [outer, n, inner].
//
// A line, the n numbers at one place of the other dimensions, is cut into parts
// of `part` numbers; rows of the range are the parts of each of outer, and
// there may be more than that makes. What the parts give,
// [outer, parts, inner], is put together by the same kernels.
//
// Defined by the host: ALONG, if a work-item takes LANES neighbouring lines.
// Else inner is 1, and a group of GROUP_ITEMS work-items takes one part of a
// line, LANES numbers at a time. MOST, if the largest number and its place are
// looked for; else numbers are summed.

#include "common.cl"
#include "some.cl"

typedef const global float* Floats;
typedef const global int* Places;

typedef struct {
  floatL value;
  intL place;
} Found;

#ifdef MOST
// NaN is larger than every number.
#define LARGER(a, b) (((a) > (b)) | (isnan(a) & !isnan(b)))
#define NOTHING -INFINITY
#else
#define NOTHING 0.0f
#endif

INLINE void take(Found* found, floatL value, intL place) {
#ifdef MOST
  const intL larger = LARGER(value, found->value);
  found->value = CHOOSE(found->value, value, larger);
  found->place = CHOOSE(found->place, place, larger);
#else
  found->value += value;
#endif
}

// What another lane or work-item found.
INLINE void join(float* value, int* place, float other, int at) {
#ifdef MOST
  const bool equal = other == *value || (isnan(other) && isnan(*value));
  if (LARGER(other, *value) || (equal && at < *place)) {
    *value = other;
    *place = at;
  }
#else
  *value += other;
#endif
}

// Vector i of the numbers of this work-item, and their places in the line.
#ifdef ALONG
#define BEGIN_LINES                                     \
  const int item = 0;                                   \
  const int column = get_global_id(0) * LANES;          \
  if (column >= inner || row >= rows) return;           \
  const int lines = inner - column;
#define START 0
#define NEXT 1
#define NUMBERS(i) load_some(x + (long)(i) * inner, lines)
#define PLACE(i) ((intL)(begin + (i)))
#else
#define BEGIN_LINES                  \
  const int item = get_local_id(0);  \
  const int column = 0;
#define START (item * LANES)
#define NEXT (GROUP_ITEMS * LANES)
#define NUMBERS(i) load_or(x + (i), count - (i), NOTHING)
#define PLACE(i) (begin + (i) + LANE_NUMBERS)
#endif

#define BEGIN_PART                                              \
  const long row = get_global_id(1);                            \
  BEGIN_LINES                                                   \
  const int begin = row % parts * part;                         \
  const int count = min(part, n - begin);                       \
  x += x_at + (row / parts * n + begin) * inner + column;

INLINE floatL load_or(Floats p, int count, float missing) {
#if LANES == 1
  return *p;
#else
  if (count >= LANES) return LOAD(0, p);
  float some[LANES];
  for (int i = 0; i < LANES; ++i) some[i] = i < count ? p[i] : missing;
  return LOAD(0, some);
#endif
}

INLINE intL load_places(Places p, int count) {
  int some[LANES];
  for (int i = 0; i < LANES; ++i) some[i] = i < count ? p[i] : 0;
  return LOAD(0, some);
}

INLINE void store_places(intL v, global int* p, int count) {
  int some[LANES];
  STORE(v, 0, some);
  for (int i = 0; i < min(count, LANES); ++i) p[i] = some[i];
}

// What all lanes and work-items of a group found, in each lane; `values` and
// `places` have room for GROUP_ITEMS.
#ifndef ALONG
INLINE Found join_all(Found found, int item, local float* values,
                      local int* places) {
  float value[LANES];
  int place[LANES];
  STORE(found.value, 0, value);
  STORE(found.place, 0, place);
  for (int i = 1; i < LANES; ++i) join(value, place, value[i], place[i]);
#if GROUP_ITEMS > 1
  values[item] = value[0];
  places[item] = place[0];
  barrier(CLK_LOCAL_MEM_FENCE);
  value[0] = values[0];
  place[0] = places[0];
  for (int i = 1; i < GROUP_ITEMS; ++i) {
    join(value, place, values[i], places[i]);
  }
  barrier(CLK_LOCAL_MEM_FENCE);
#endif
  const Found all = {(floatL)(value[0]), (intL)(place[0])};
  return all;
}
#define JOIN_ALL                                              \
  local float all_values[GROUP_ITEMS];                        \
  local int all_places[GROUP_ITEMS];                          \
  found = join_all(found, item, all_values, all_places);
#define LINES 1
#else
#define JOIN_ALL
#define LINES lines
#endif

// The places of x are those of x_places or, if it is NULL, its own. The sums
// are divided by `divisor`. out and out_places may be NULL.
kernel void reduce(Floats x, ulong x_at, Places x_places, global float* out,
                   ulong out_at, global int* out_places, ulong out_places_at,
                   int n, int inner, int part, int parts, long rows,
                   float divisor) {
  BEGIN_PART
  Found found = {(floatL)(NOTHING), PLACE(START)};
#if defined(MOST) && defined(ALONG)
  if (x_places) {
    x_places += (row / parts * n + begin) * inner + column;
    found.place = load_places(x_places, lines);
    for (int i = 0; i < count; ++i) {
      take(&found, NUMBERS(i), load_places(x_places + (long)i * inner, lines));
    }
  } else
#endif
  for (int i = START; i < count; i += NEXT) take(&found, NUMBERS(i), PLACE(i));
  JOIN_ALL
  if (item != 0) return;
  if (out) {
    store_some(found.value / divisor, out + out_at + row * inner + column,
               LINES);
  }
  if (out_places) {
    store_places(found.place, out_places + out_places_at + row * inner + column,
                 LINES);
  }
}

#ifdef MOST
// Of each part the largest number and sum(exp(x - largest)).
kernel void softmax_parts(Floats x, ulong x_at, global float* largest,
                          global float* totals, int n, int inner, int part,
                          int parts, long rows) {
  BEGIN_PART
  Found found = {(floatL)(NOTHING), (intL)(0)};
  for (int i = START; i < count; i += NEXT) {
    found.value = fmax(found.value, NUMBERS(i));
  }
  JOIN_ALL
  // Nothing but negative infinity adds nothing.
  const floatL most = CHOOSE(found.value, (floatL)(0.0f),
                             found.value == (floatL)(-INFINITY));
  floatL total = 0.0f;
  for (int i = START; i < count; i += NEXT) total += exp(NUMBERS(i) - most);
#ifndef ALONG
  float sum = lane_sum(total);
#if GROUP_ITEMS > 1
  all_values[item] = sum;
  barrier(CLK_LOCAL_MEM_FENCE);
  sum = 0.0f;
  for (int i = 0; i < GROUP_ITEMS; ++i) sum += all_values[i];
#endif
  total = sum;
#endif
  if (item != 0) return;
  store_some(found.value, largest + row * inner + column, LINES);
  store_some(total, totals + row * inner + column, LINES);
}
#endif

#if defined(MOST) && defined(ALONG)
// The parts [outer, parts, inner] put together, in place of the first ones of
// each of outer.
kernel void softmax_join(global float* largest, global float* totals, int inner,
                         int parts, long rows) {
  const long row = get_global_id(1);
  BEGIN_LINES
  largest += row * parts * inner + column;
  totals += row * parts * inner + column;
  floatL most = -INFINITY;
  for (int i = 0; i < parts; ++i) {
    most = fmax(most, load_some(largest + (long)i * inner, lines));
  }
  floatL total = 0.0f;
  for (int i = 0; i < parts; ++i) {
    const long at = (long)i * inner;
    total += load_some(totals + at, lines) *
             exp(load_some(largest + at, lines) - most);
  }
  store_some(most, largest, lines);
  store_some(total, totals, lines);
}
#endif
