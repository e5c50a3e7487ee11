// ATTEND: a group of GROUP_ITEMS work-items gives one head of one row; see
// attend_head.cl.
//
// Defined by the host: HEAD, the elements of a head.

#include "common.cl"
#define CACHE 0
#include "cache.cl"
#include "tensor.cl"

// Where the vectors of a head of tensors [B, P, kv_heads, HEAD] lie.
typedef struct {
  const global float* keys;
  const global float* values;
  ulong step;
} Where;

typedef ulong Place;  // elements before the vector, of keys as of values

INLINE Place place_at(const Where* where, int position) {
  return position * where->step;
}

INLINE const global uchar* key_of(const Where* where, Place place) {
  return (const global uchar*)(where->keys + place);
}

INLINE const global uchar* value_of(const Where* where, Place place) {
  return (const global uchar*)(where->values + place);
}

#include "attend_head.cl"

#define BUFFERS(INPUT, OUTPUT)                                              \
  COUNTS(INPUT) INPUT(float, query) INPUT(float, keys) INPUT(float, values) \
  OUTPUT(float, y)
#define PARAMETERS(P)                                                         \
  GROUP_PARAMETERS(P) P(uint, query_base) P(uint, keys_base)                  \
  P(uint, values_base) P(uint, y_base) P(uint, rows) P(uint, positions)       \
  P(uint, heads) P(uint, kv_heads) P(uint, d) P(uint, causal) P(float, scale) \
  P(float, cap)
KERNEL(attend) {
  OPEN
  ATTENTION_ROOM
  const uint group = GROUP_NUMBER;
  if (NOTHING_TO_DO(group)) return;
  const uint head = group % heads;
  const uint row = group / heads % rows;
  const uint batch = group / heads / rows;
  const uint kv_head = head / (heads / kv_heads);
  const int last = causal ? positions - rows + row : positions - 1;
  const ulong step = (ulong)kv_heads * HEAD;
  const ulong first = batch * positions * step + (ulong)kv_head * HEAD;
  const Where where = {keys + keys_base + first, values + values_base + first,
                       step};
  const ulong at = (ulong)group * HEAD;
  attend_head(query + query_base + at, &where, 0, last, scale, cap, -INFINITY,
              get_local_id(0), y + y_base + at, sums, all_largest, all_totals);
}
