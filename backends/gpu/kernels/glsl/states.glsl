// The states that ops carry from row to row of a sequence, in slots of a cache.
// A work-group has a sequence and goes through the rows in their order. They
// come in pieces, a dispatch each: the first takes up the state that the run
// begins with, the others what the piece before has left.
//
// Shaders that include this have the inputs sequences, bound from p.bound_row
// on, and state_slots, and the parameters of ROW_PARAMETERS, about sequences,
// then begin and end, the piece's rows, and slots, the number of them that there
// are.

const uint kNowhere = 0xFFFFFFFFu;

// The slot to begin with, or kNowhere where there is no state yet.
uint slot_to_read(uint sequence) {
  const uint slot =
      WORD(state_slots, 2 * sequence + (p.begin == 0 ? 0 : 1));
  return slot < p.slots ? slot : kNowhere;
}

uint slot_to_write(uint sequence) {
  const uint slot = WORD(state_slots, 2 * sequence + 1);
  return slot < p.slots ? slot : kNowhere;
}

// Whether the work-group has a sequence and the piece has something to do. The
// first one has, rows or none: it moves the state.
#define HAS_PIECE                   \
  (gl_WorkGroupID.y < ROW_COUNT && \
   (p.begin == 0 || p.begin < counts[0]))
