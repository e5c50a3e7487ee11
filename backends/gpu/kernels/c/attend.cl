// ATTEND: a group of GROUP_ITEMS work-items gives one head of one row; see
// attend_head.cl.

#include "common.cl"
#define CACHE 0
#include "cache.cl"

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

kernel __attribute__((reqd_work_group_size(GROUP_ITEMS, 1, 1))) void
attend(const global float* query, ulong query_at, const global float* keys,
       ulong keys_at, const global float* values, ulong values_at,
       global float* out, ulong out_at, int rows, int positions, int heads,
       int kv_heads, float scale, float cap, int causal) {
  ATTENTION_ROOM
  const int head = get_global_id(0) / GROUP_ITEMS;
  const ulong row = get_global_id(1);
  const int kv_head = head / (heads / kv_heads);
  const int last =
      causal ? positions - rows + (int)(row % rows) : positions - 1;
  const ulong step = (ulong)kv_heads * HEAD;
  const ulong first = row / rows * positions * step + (ulong)kv_head * HEAD;
  const Where where = {keys + keys_at + first, values + values_at + first,
                       step};
  const ulong at = (row * heads + head) * HEAD;
  attend_head(query + query_at + at, &where, 0, last, scale, cap, -INFINITY,
              get_local_id(0), out + out_at + at, sums, all_largest,
              all_totals);
}
