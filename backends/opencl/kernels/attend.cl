// ATTEND: a group of GROUP_ITEMS work-items gives one head of one row; see
// attend_head.cl.

#include "common.cl"

// Where the vectors of a head of tensors [B, P, kv_heads, HEAD] lie.
typedef struct {
  ulong first;
  ulong step;
} Where;

INLINE ulong place_at(const Where* where, int position) {
  return where->first + position * where->step;
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
  const ulong step = (ulong)kv_heads * HEAD * sizeof(float);
  const Where where = {
      row / rows * positions * step + (ulong)kv_head * HEAD * sizeof(float),
      step};
  const ulong at = (row * heads + head) * HEAD;
  attend_head(query + query_at + at, (const global uchar*)(keys + keys_at),
              (const global uchar*)(values + values_at), &where, 0, last,
              scale, cap, -INFINITY, get_local_id(0), out + out_at + at, sums,
              all_largest, all_totals);
}
