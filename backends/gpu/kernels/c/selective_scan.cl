// SELECTIVE_SCAN: PARTS work-items have an element of a head of a sequence and
// keep its row of the state; a work-item has every vector of LANES elements of
// that row whose number is its own, modulo PARTS.
//
// Defined by the host: STATE, elements of the row; PARTS, more than 1 only if
// LANES is 1; GROUP_ITEMS, a multiple of PARTS.

#include "common.cl"
#include "some.cl"
#include "states.cl"
#include "parts.cl"

#define BUFFERS(INPUT, OUTPUT)                                      \
  COUNTS(INPUT) INPUT(float, x) INPUT(float, steps) INPUT(float, b) \
  INPUT(float, c) INPUT(float, step_bias) INPUT(float, decay)       \
  INPUT(float, skip) OUTPUT(float, out) OUTPUT(float, cache)        \
  INPUT(uint, sequences) INPUT(int, slots)
#define PARAMETERS(P) \
  PIECE_PARAMETERS(P) P(uint, heads) P(uint, head_size) P(uint, groups)
KERNEL(selective_scan) {
  OPEN
  PARTS_ROOM
  const int part = get_local_id(0) % PARTS;
  const int wanted =
      COLUMN_GROUP * (GROUP_ITEMS / PARTS) + get_local_id(0) / PARTS;
  const int elements = heads * head_size;
  // Items beyond the last element do it too: all meet in each sum.
  const int element = min(wanted, elements - 1);
  const bool writes = wanted < elements;
  const uint head = element / head_size;
  const uint group = head / (heads / groups);
  if (!HAS_PIECE) return;
  const Run run = RUN;
  x += element;
  out += element;
  steps += head;
  b += (ulong)group * STATE;
  c += (ulong)group * STATE;
  cache += (ulong)element * STATE;
  const ulong slot_size = (ulong)elements * STATE;
  floatL state[EACH_ROOM];
  for (int t = 0; t < EACH; ++t) {
    state[t] = run.from >= 0 && PLACE(t) < STATE
                   ? load_some(cache + run.from * slot_size + PLACE(t),
                               STATE - PLACE(t))
                   : (floatL)(0.0f);
  }
  for (uint i = begin; i < run.end; ++i) {
    const uint row = i - bound_row;
    if (sequences[row] != run.sequence) continue;
    const float value = x[(ulong)row * elements];
    const float given = steps[(ulong)row * heads] + step_bias[head];
    const float step = fmax(given, 0.0f) + log1p(exp(-fabs(given)));
    const float kept = exp(step * decay[head]);
    const float added = step * value;
    const ulong at = (ulong)row * groups * STATE;
    floatL lanes = 0.0f;
    for (int t = 0; t < EACH; ++t) {
      if (PLACE(t) >= STATE) break;
      const int count = STATE - PLACE(t);
      state[t] = MULTIPLY_ADD((floatL)(added),
                              load_some(b + at + PLACE(t), count),
                              state[t] * kept);
      lanes = MULTIPLY_ADD(state[t], load_some(c + at + PLACE(t), count),
                           lanes);
    }
    const float sum = SUM_OF_PARTS(lane_sum(lanes));
    if (part == 0 && writes) {
      out[(ulong)row * elements] = MULTIPLY_ADD(skip[head], value, sum);
    }
  }
  if (run.to < 0 || !writes) return;
  for (int t = 0; t < EACH; ++t) {
    if (PLACE(t) < STATE) {
      store_some(state[t], cache + run.to * slot_size + PLACE(t),
                 STATE - PLACE(t));
    }
  }
}
