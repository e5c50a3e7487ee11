// RMS_NORM: a group of GROUP_ITEMS work-items does one vector of d elements.

#include "common.cl"

kernel __attribute__((reqd_work_group_size(GROUP_ITEMS, 1, 1))) void
rms_norm(const global float* x, ulong x_at, const global float* weight,
         global float* out, ulong out_at, int d, float epsilon) {
  const int item = get_local_id(0);
  const ulong vector = get_global_id(1);
  x += x_at + vector * d;
  out += out_at + vector * d;
  const int whole = d / LANES * LANES;
  floatL lanes = 0.0f;
  for (int i = item * LANES; i < whole; i += GROUP_ITEMS * LANES) {
    const floatL v = LOAD(0, x + i);
    lanes = MULTIPLY_ADD(v, v, lanes);
  }
  float squares = lane_sum(lanes);
  for (int i = whole + item; i < d; i += GROUP_ITEMS) squares += x[i] * x[i];
#if GROUP_ITEMS > 1
  local float parts[GROUP_ITEMS];
  parts[item] = squares;
  barrier(CLK_LOCAL_MEM_FENCE);
  squares = 0.0f;
  for (int i = 0; i < GROUP_ITEMS; ++i) squares += parts[i];
#endif
  const float factor = 1.0f / sqrt(squares / (float)d + epsilon);
  for (int i = item * LANES; i < whole; i += GROUP_ITEMS * LANES) {
    STORE(LOAD(0, x + i) * factor * LOAD(0, weight + i), 0, out + i);
  }
  for (int i = whole + item; i < d; i += GROUP_ITEMS) {
    out[i] = x[i] * factor * weight[i];
  }
}
