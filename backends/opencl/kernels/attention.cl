// ATTENTION: a group of GROUP_ITEMS work-items gives one head of one row; see
// attend_head.cl.

#include "common.cl"
#include "cache.cl"

typedef struct {
  Places places;
  ulong sequence;
  int head;
} Where;

INLINE ulong place_at(const Where* where, int position) {
  return place_of(&where->places, where->sequence, position, where->head);
}

#include "attend_head.cl"

kernel __attribute__((reqd_work_group_size(GROUP_ITEMS, 1, 1))) void
attention(const global float* query, ulong query_at, const global uchar* keys,
          const global uchar* values, const global int* positions,
          ulong positions_at, const global int* sequences, ulong sequences_at,
          const global int* table, ulong table_at, global float* out,
          ulong out_at, int heads, int kv_heads, int entries, int page_size,
          int pages, float scale, float cap, int window,
          const global int* counts, const global float* sinks,
          int has_sinks, const global int* lengths, ulong lengths_at,
          int has_lengths) {
  ATTENTION_ROOM
  const int head = get_global_id(0) / GROUP_ITEMS;
  const ulong row = get_global_id(1);
  const int kv_head = head / (heads / kv_heads);
  // Places that do not exist become some that do.
  const int position =
      clamp(positions[positions_at + row], 0, entries * page_size - 1);
  const uint asked = sequences[sequences_at + row];
  const ulong sequence = asked < (uint)counts[2] ? asked : 0;
  const Where where = {
      {table + table_at, entries, page_size, pages, kv_heads},
      sequence,
      kv_head};
  const int first = window > 0 ? max(0, position - window + 1) : 0;
  const int last = has_lengths ? clamp(lengths[lengths_at + sequence], 1,
                                       entries * page_size) - 1
                               : position;

  const ulong at = (row * heads + head) * HEAD;
  attend_head(query + query_at + at, keys, values, &where, first, last, scale,
              cap, has_sinks ? sinks[head] : -INFINITY, get_local_id(0),
              out + out_at + at, sums, all_largest, all_totals);
}
