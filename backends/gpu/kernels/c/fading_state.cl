// FADING_STATE: PARTS work-items have an element of a head of a sequence and
// keep its row of the state; see parts.cl.
//
// Defined by the host: STATE, elements of the row; PARTS, more than 1 only if
// LANES is 1; GROUP_ITEMS, a multiple of PARTS; CORRECTS, 1 if there are a and
// b, whose buffers are others if not.

#include "common.cl"
#include "some.cl"
#include "states.cl"
#include "parts.cl"

#if CORRECTS
// exp(-1/2), by which the rate of fading is at most multiplied.
#define KEPT(x) exp(-0.60653066f / (1.0f + exp(-(x))))
#else
#define KEPT(x) exp(-exp(x))
#endif

#define BUFFERS(INPUT, OUTPUT)                                       \
  COUNTS(INPUT) INPUT(float, v) INPUT(float, q) INPUT(float, k)      \
  INPUT(float, decays) INPUT(float, a) INPUT(float, b)               \
  INPUT(float, bonus) OUTPUT(float, out) OUTPUT(float, cache)        \
  INPUT(uint, sequences) INPUT(int, slots) OUTPUT(float, own)
#define PARAMETERS(P) PIECE_PARAMETERS(P) P(uint, heads) P(uint, head_size)
KERNEL(fading_state) {
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
  if (!HAS_PIECE) return;
  const Run run = RUN;
  v += element;
  out += element;
  own += element;
  q += (ulong)head * STATE;
  k += (ulong)head * STATE;
  decays += (ulong)head * STATE;
  a += (ulong)head * STATE;
  b += (ulong)head * STATE;
  bonus += (ulong)head * STATE;
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
    const ulong at = (ulong)row * heads * STATE;
    const float value = v[(ulong)row * elements];
    floatL shares = 0.0f;
    floatL sums = 0.0f;
    for (int t = 0; t < EACH; ++t) {
      if (PLACE(t) >= STATE) break;
      const int count = STATE - PLACE(t);
      const floatL query = load_some(q + at + PLACE(t), count);
      shares = MULTIPLY_ADD(load_some(bonus + PLACE(t), count) *
                                load_some(k + at + PLACE(t), count),
                            query, shares);
#if CORRECTS
      sums = MULTIPLY_ADD(state[t], load_some(a + at + PLACE(t), count), sums);
#else
      sums = MULTIPLY_ADD(state[t], query, sums);
#endif
    }
    const float share = SUM_OF_PARTS(lane_sum(shares));
    // The product of the earlier state with a, or the output.
    float sum = SUM_OF_PARTS(lane_sum(sums));
    sums = 0.0f;
    for (int t = 0; t < EACH; ++t) {
      if (PLACE(t) >= STATE) break;
      const int count = STATE - PLACE(t);
      state[t] *= KEPT(load_some(decays + at + PLACE(t), count));
#if CORRECTS
      state[t] = MULTIPLY_ADD((floatL)(sum),
                              load_some(b + at + PLACE(t), count), state[t]);
#endif
      state[t] = MULTIPLY_ADD((floatL)(value),
                              load_some(k + at + PLACE(t), count), state[t]);
#if CORRECTS
      sums = MULTIPLY_ADD(state[t], load_some(q + at + PLACE(t), count), sums);
#endif
    }
#if CORRECTS
    sum = SUM_OF_PARTS(lane_sum(sums));
#endif
    if (part == 0 && writes) {
      out[(ulong)row * elements] = sum;
      own[(ulong)row * elements] = share * value;
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
