// CHANNEL_SCAN: PARTS work-items have a channel of a sequence and keep its
// state; a work-item has every vector of LANES elements of the state whose
// number is its own, modulo PARTS.
//
// Defined by the host: STATE, elements of the state; PARTS, more than 1 only if
// LANES is 1; GROUP_ITEMS, a multiple of PARTS.

#include "common.cl"
#include "some.cl"
#include "states.cl"
#include "parts.cl"

#define BUFFERS(INPUT, OUTPUT)                                      \
  COUNTS(INPUT) INPUT(float, x) INPUT(float, steps) INPUT(float, b) \
  INPUT(float, c) INPUT(float, decay) INPUT(float, skip)            \
  OUTPUT(float, out) OUTPUT(float, cache) INPUT(uint, sequences)    \
  INPUT(int, slots)
#define PARAMETERS(P) PIECE_PARAMETERS(P) P(uint, channels)
KERNEL(channel_scan) {
  OPEN
  PARTS_ROOM
  const int part = get_local_id(0) % PARTS;
  const int wanted =
      COLUMN_GROUP * (GROUP_ITEMS / PARTS) + get_local_id(0) / PARTS;
  // Items beyond the last channel do it too: all meet in each sum.
  const int channel = min(wanted, (int)channels - 1);
  const bool writes = wanted < (int)channels;
  if (!HAS_PIECE) return;
  const Run run = RUN;
  x += channel;
  out += channel;
  steps += channel;
  decay += (ulong)channel * STATE;
  cache += (ulong)channel * STATE;
  const ulong slot_size = (ulong)channels * STATE;
  floatL state[EACH_ROOM];
  floatL rates[EACH_ROOM];
  for (int t = 0; t < EACH; ++t) {
    const int count = STATE - PLACE(t);
    state[t] = run.from >= 0 && count > 0
                   ? load_some(cache + run.from * slot_size + PLACE(t), count)
                   : (floatL)(0.0f);
    rates[t] = count > 0 ? load_some(decay + PLACE(t), count) : (floatL)(0.0f);
  }
  for (uint i = begin; i < run.end; ++i) {
    const uint row = i - bound_row;
    if (sequences[row] != run.sequence) continue;
    const float value = x[(ulong)row * channels];
    const float given = steps[(ulong)row * channels];
    const float step = fmax(given, 0.0f) + log1p(exp(-fabs(given)));
    const float added = step * value;
    const ulong at = (ulong)row * STATE;
    floatL lanes = 0.0f;
    for (int t = 0; t < EACH; ++t) {
      if (PLACE(t) >= STATE) break;
      const int count = STATE - PLACE(t);
      state[t] = MULTIPLY_ADD((floatL)(added),
                              load_some(b + at + PLACE(t), count),
                              state[t] * exp(rates[t] * step));
      lanes = MULTIPLY_ADD(state[t], load_some(c + at + PLACE(t), count),
                           lanes);
    }
    const float sum = SUM_OF_PARTS(lane_sum(lanes));
    if (part == 0 && writes) {
      out[(ulong)row * channels] = MULTIPLY_ADD(skip[channel], value, sum);
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
