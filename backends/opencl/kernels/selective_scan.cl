// SELECTIVE_SCAN: PARTS work-items have an element of a head of a sequence and
// keep its row of the state; a work-item has every vector of LANES elements of
// that row whose number is its own, modulo PARTS.
//
// Defined by the host: STATE, elements of the row; PARTS, more than 1 only if
// LANES is 1; GROUP_ITEMS, a multiple of PARTS.

#include "common.cl"
#include "some.cl"
#include "states.cl"

// Vectors of a work-item.
#define EACH ((STATE + PARTS * LANES - 1) / (PARTS * LANES))
// The place of vector t.
#define PLACE(t) (((t) * PARTS + part) * LANES)

kernel __attribute__((reqd_work_group_size(GROUP_ITEMS, 1, 1))) void
selective_scan(const global float* x, ulong x_at, const global float* steps,
               ulong steps_at, const global float* b, ulong b_at,
               const global float* c, ulong c_at, const global float* step_bias,
               const global float* decay, const global float* skip,
               const global int* sequences, ulong sequences_at,
               const global int* slots, ulong slots_at, global float* cache,
               ulong cache_at, global float* out, ulong out_at, int heads,
               int head_size, int groups, int slot_count,
               const global int* counts) {
#if PARTS > 1
  local float sums[GROUP_ITEMS];
#endif
  const int part = get_local_id(0) % PARTS;
  const int wanted = get_global_id(0) / PARTS;
  const int elements = heads * head_size;
  // Items beyond the last element do it too: all meet in each sum.
  const int element = min(wanted, elements - 1);
  const bool writes = wanted < elements;
  const int head = element / head_size;
  const int group = head / (heads / groups);
  const Run run =
      run_of(sequences + sequences_at, slots + slots_at, slot_count, counts);
  x += x_at + element;
  out += out_at + element;
  steps += steps_at + head;
  b += b_at + (ulong)group * STATE;
  c += c_at + (ulong)group * STATE;
  cache += cache_at + (ulong)element * STATE;
  const ulong slot_size = (ulong)elements * STATE;
  floatL state[EACH];
  for (int t = 0; t < EACH; ++t) {
    state[t] = run.from >= 0 && PLACE(t) < STATE
                   ? load_some(cache + run.from * slot_size + PLACE(t),
                               STATE - PLACE(t))
                   : (floatL)(0.0f);
  }
  for (int row = 0; row < run.rows; ++row) {
    if (run.sequences[row] != run.sequence) continue;
    const float value = x[(ulong)row * elements];
    const float given = steps[(ulong)row * heads] + step_bias[head];
    const float step = fmax(given, 0.0f) + log1p(exp(-fabs(given)));
    const float kept = exp(step * decay[head]);
    const float added = step * value;
    const ulong begin = (ulong)row * groups * STATE;
    floatL lanes = 0.0f;
    for (int t = 0; t < EACH; ++t) {
      if (PLACE(t) >= STATE) break;
      const int count = STATE - PLACE(t);
      state[t] = MULTIPLY_ADD((floatL)(added),
                              load_some(b + begin + PLACE(t), count),
                              state[t] * kept);
      lanes = MULTIPLY_ADD(state[t], load_some(c + begin + PLACE(t), count),
                           lanes);
    }
    float sum = lane_sum(lanes);
#if PARTS > 1
    const int item = get_local_id(0);
    barrier(CLK_LOCAL_MEM_FENCE);
    sums[item] = sum;
    barrier(CLK_LOCAL_MEM_FENCE);
    sum = 0.0f;
    for (int i = 0; i < PARTS; ++i) sum += sums[item - part + i];
#endif
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
