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

KERNEL(attend)
(COUNTS, INPUT(query), INPUT(keys), INPUT(values), OUTPUT(y), GROUP_PARAMETERS,
 uint query_base, uint keys_base, uint values_base, uint y_base, uint rows,
 uint positions, uint heads, uint kv_heads, uint d, uint causal, float scale,
 float cap) {
  ATTENTION_ROOM
  OPEN_INPUT(float, query)
  OPEN_INPUT(float, keys)
  OPEN_INPUT(float, values)
  OPEN_OUTPUT(float, y)
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
