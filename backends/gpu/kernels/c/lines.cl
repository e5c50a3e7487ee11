// SOFTMAX, REDUCE and ARGMAX over the middle dimension of x [outer, n, inner].
//
// A line is the n numbers at one place of the other dimensions. Long lines are
// cut into parts and done in stages: what is found in each part, a pair of
// numbers, goes to memory; the parts of each line are joined; then, of SOFTMAX,
// every part is divided. The first numbers of all pairs, of part p of line l
// number p * lines + l, lie before the second ones.
//
// Defined by the host: KIND and STAGE, as below; TOGETHER, 1 if a group does a
// part of one line, LANES numbers at a time (1 if inner is not 1). Else a
// work-item does that of LANES neighbouring lines.

#include "common.cl"
#include "group.cl"
#include "some.cl"
#include "tensor.cl"

#define SUM 0  // to LARGEST: RC_REDUCE_*
#define MEAN 1
#define LARGEST 2
#define PLACE 3
#define SOFTMAX 4

#define WHOLE 0   // everything at once
#define PARTS 1   // x to pairs
#define JOINING 2    // these, as x, to results; of SOFTMAX to pairs
#define SHARES 3  // x and these, as `joined`, to results

typedef const global float* Floats;

typedef struct {
  floatL value;
  intL place;
} Found;

// NaN is larger than every number.
#define LARGER(a, b) (((a) > (b)) | (isnan(a) & !isnan(b)))

#if KIND == SUM || KIND == MEAN
#define NOTHING 0.0f
#else
#define NOTHING -INFINITY
#endif

INLINE void take(Found* found, floatL value, intL place) {
#if KIND == SUM || KIND == MEAN
  found->value += value;
#else
  const intL larger = LARGER(value, found->value);
  found->value = CHOOSE(found->value, value, larger);
  found->place = CHOOSE(found->place, place, larger);
#endif
}

#if TOGETHER
#define START (item * LANES)
#define NEXT (GROUP_ITEMS * LANES)

INLINE floatL numbers_of(Floats x, int i, int end, uint inner, int some) {
#if LANES == 1
  return x[(ulong)i * inner];
#else
  if (i + LANES <= end) return LOAD(0, x + i);
  float last[LANES];
  for (int j = 0; j < LANES; ++j) last[j] = i + j < end ? x[i + j] : NOTHING;
  return LOAD(0, last);
#endif
}

INLINE void put_numbers(floatL v, global float* y, int i, int end, uint inner,
                        int some) {
#if LANES == 1
  y[(ulong)i * inner] = v;
#else
  store_some(v, y + i, end - i);
#endif
}

// Joins the result of another lane or work-item.
INLINE void join(float* value, int* place, float other, int at) {
#if KIND == SUM || KIND == MEAN
  *value += other;
#else
  const bool equal = other == *value || (isnan(other) && isnan(*value));
  if (LARGER(other, *value) || (equal && at < *place)) {
    *value = other;
    *place = at;
  }
#endif
}

// Returns the joined result of all lanes and work-items of a group, in each
// lane. `values` and `places` have room for one of each item.
INLINE Found join_all(Found found, int item, local float* values,
                      local int* places) {
  float value[LANES];
  int place[LANES];
  STORE(found.value, 0, value);
  STORE(found.place, 0, place);
  for (int i = 1; i < LANES; ++i) join(value, place, value[i], place[i]);
#if GROUP_ROOM > 1
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

#define PLACES_OF(i) ((intL)(i) + LANE_NUMBERS)
#define JOIN_ALL(found) join_all(found, item, all_values, all_places)
#define ADD_ALL(v) ((floatL)(group_sum(lane_sum(v), item, all_values)))
#else
#define START 0
#define NEXT 1

INLINE floatL numbers_of(Floats x, int i, int end, uint inner, int some) {
  return load_some(x + (ulong)i * inner, some);
}

INLINE void put_numbers(floatL v, global float* y, int i, int end, uint inner,
                        int some) {
  store_some(v, y + (ulong)i * inner, some);
}

#define PLACES_OF(i) ((intL)(i))
#define JOIN_ALL(found) (found)
#define ADD_ALL(v) (v)
#endif

INLINE intL load_places(const global int* p, int count) {
#if LANES == 1
  return *p;
#else
  int some[LANES];
  for (int i = 0; i < LANES; ++i) some[i] = i < count ? p[i] : 0;
  return LOAD(0, some);
#endif
}

INLINE void store_places(intL v, global int* p, int count) {
#if LANES == 1
  *p = v;
#else
  int some[LANES];
  STORE(v, 0, some);
  for (int i = 0; i < min(count, LANES); ++i) p[i] = some[i];
#endif
}

// inner: the distance from number to number of a line; part: the numbers of a
// part.
#define BUFFERS(INPUT, OUTPUT) \
  COUNTS(INPUT) INPUT(float, x) INPUT(float, joined) OUTPUT(float, y)
#define PARAMETERS(P)                                                \
  GROUP_PARAMETERS(P) P(uint, x_base) P(uint, y_base) P(uint, lines) \
  P(uint, n) P(uint, inner) P(uint, part) P(uint, parts)
KERNEL(lines) {
  OPEN
#if TOGETHER
  SHARED float all_values[GROUP_ROOM];
  SHARED int all_places[GROUP_ROOM];
#endif
  const uint group = GROUP_NUMBER;
  if (NOTHING_TO_DO(group)) return;
  x += x_base;
  y += y_base;
  const int divisor = n;
#if STAGE == JOINING
  // Pairs lie as numbers of one line for each.
  const uint pairs = lines * parts;
  n = part = parts;
  inner = lines;
  parts = 1;
#endif
  const int item = get_local_id(0);
#if TOGETHER
  const uint unit = group;
  const uint blocks = lines;
  const uint line = unit % blocks;
  const int some = 1;
#else
  const uint unit = group * GROUP_ITEMS + item;
  const uint across = (inner + LANES - 1) / LANES;
  const uint blocks = lines / inner * across;
  if (unit >= blocks * parts) return;
  const uint column = unit % blocks % across * LANES;
  const uint line = unit % blocks / across * inner + column;
  const int some = min((uint)LANES, inner - column);
#endif
  const ulong first = (ulong)(line / inner) * n * inner + line % inner;
  const uint number = unit / blocks;
  const int begin = number * part;
  const int end = min(begin + part, n);
  x += first;
#define NUMBERS(i) numbers_of(x, i, end, inner, some)

#if STAGE == SHARES
#if TOGETHER
  const floatL largest = (floatL)(joined[line]);
  const floatL total = (floatL)(joined[lines + line]);
#else
  const floatL largest = load_some(joined + line, some);
  const floatL total = load_some(joined + lines + line, some);
#endif
#else
  Found found = {(floatL)(NOTHING), PLACES_OF(begin + START)};
#if STAGE == JOINING && KIND == PLACE
  const global int* places = (const global int*)(x + pairs);
  found.place = load_places(places, some);
  for (int i = begin + START; i < end; i += NEXT) {
    take(&found, NUMBERS(i), load_places(places + (ulong)i * inner, some));
  }
#else
  for (int i = begin + START; i < end; i += NEXT) {
    take(&found, NUMBERS(i), PLACES_OF(i));
  }
#endif
  found = JOIN_ALL(found);
#endif

#if KIND == SOFTMAX && STAGE != SHARES
  // Nothing but negative infinity adds nothing.
  const floatL largest = CHOOSE(found.value, (floatL)(0.0f),
                                found.value == (floatL)(-INFINITY));
  floatL total = 0.0f;
  for (int i = begin + START; i < end; i += NEXT) {
#if STAGE == JOINING
    total += load_some(x + pairs + (ulong)i * inner, some) *
             exp(NUMBERS(i) - largest);
#else
    total += exp(NUMBERS(i) - largest);
#endif
  }
  total = ADD_ALL(total);
#endif

#if KIND == SOFTMAX && (STAGE == WHOLE || STAGE == SHARES)
  y += first;
  for (int i = begin + START; i < end; i += NEXT) {
    put_numbers(exp(NUMBERS(i) - largest) / total, y, i, end, inner, some);
  }
#else
#if TOGETHER
  if (item != 0) return;
#endif
#if STAGE == PARTS
  const uint at = number * lines + line;
  const uint second = at + lines * parts;
#else
  const uint at = line;
  const uint second = line + lines;
#endif
#if KIND == SOFTMAX
  store_some(found.value, y + at, some);
  store_some(total, y + second, some);
#elif KIND == PLACE && STAGE == PARTS
  store_some(found.value, y + at, some);
  store_places(found.place, (global int*)y + second, some);
#elif KIND == PLACE
  store_places(found.place, (global int*)y + at, some);
#elif KIND == MEAN && STAGE != PARTS
  store_some(found.value / (float)divisor, y + at, some);
#else
  store_some(found.value, y + at, some);
#endif
#endif
}
