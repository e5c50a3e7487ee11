// The states that ops carry from row to row of a sequence, in slots of a cache.
// Rows of a kernel are sequences; work-items go through the rows of the run in
// their order. They come in pieces, a dispatch each: the first takes up the
// state that the run begins with, the others what the piece before has left.

// After ROW_PARAMETERS: the first row that is bound, the rows of the piece, and
// the slots that there are.
#define PIECE_PARAMETERS(P)                                        \
  ROW_PARAMETERS(P) P(uint, bound_row) P(uint, begin) P(uint, end) \
  P(uint, slot_count)

typedef struct {
  uint sequence;
  uint end;      // of the rows
  int from, to;  // slots; -1 for none
} Run;

INLINE int slot_at(const global int* slots, ulong i, uint count) {
  return (uint)slots[i] < count ? slots[i] : -1;
}

INLINE Run run_of(uint sequence, const global int* slots, uint slot_count,
                  const global uint* counts, uint begin, uint end) {
  const Run run = {
      sequence, min(end, counts[0]),
      slot_at(slots, 2 * (ulong)sequence + (begin == 0 ? 0 : 1), slot_count),
      slot_at(slots, 2 * (ulong)sequence + 1, slot_count)};
  return run;
}

// Whether the piece has something to do. The first one has, rows or none: it
// moves the state.
#define HAS_PIECE (begin == 0 || begin < counts[0])
#define RUN                                                               \
  run_of(first_row + get_global_id(1), slots, slot_count, counts, begin, \
         end)
