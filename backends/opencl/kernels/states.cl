// The states that ops carry from row to row of a sequence, in slots of a cache.
// Rows of a kernel are sequences; work-items go through the rows of the run in
// their order.

typedef struct {
  const global int* sequences;  // of each row
  int rows;
  int sequence;
  int from, to;  // slots; -1 for none
} Run;

INLINE int slot_at(const global int* slots, ulong i, int count) {
  return (uint)slots[i] < (uint)count ? slots[i] : -1;
}

INLINE Run run_of(const global int* sequences, const global int* slots,
                  int slot_count, const global int* counts) {
  const ulong sequence = get_global_id(1);
  const Run run = {sequences, counts[0], (int)sequence,
                   slot_at(slots, 2 * sequence, slot_count),
                   slot_at(slots, 2 * sequence + 1, slot_count)};
  return run;
}
