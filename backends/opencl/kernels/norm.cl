// RMS_NORM and LAYER_NORM: a group of GROUP_ITEMS work-items does one vector of
// d elements.

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

INLINE float load_one(const global float* x, int i, float none) {
  return x ? x[i] : none;
}

INLINE floatL load_lanes(const global float* x, int i, float none) {
  return x ? LOAD(0, x + i) : (floatL)(none);
}

// The sum over the items of a group; `parts` has room for them.
INLINE float group_sum(float sum, int item, local float* parts) {
#if GROUP_ITEMS > 1
  parts[item] = sum;
  barrier(CLK_LOCAL_MEM_FENCE);
  sum = 0.0f;
  for (int i = 0; i < GROUP_ITEMS; ++i) sum += parts[i];
  barrier(CLK_LOCAL_MEM_FENCE);
#endif
  return sum;
}

// weight and bias may be NULL.
kernel __attribute__((reqd_work_group_size(GROUP_ITEMS, 1, 1))) void
layer_norm(const global float* x, ulong x_at, const global float* weight,
           ulong weight_at, const global float* bias, ulong bias_at,
           global float* out, ulong out_at, int d, float epsilon, int center) {
  local float parts[GROUP_ITEMS];
  const int item = get_local_id(0);
  const ulong vector = get_global_id(1);
  x += x_at + vector * d;
  out += out_at + vector * d;
  if (weight) weight += weight_at;
  if (bias) bias += bias_at;
  const int whole = d / LANES * LANES;
  float mean = 0.0f;
  if (center) {
    floatL lanes = 0.0f;
    for (int i = item * LANES; i < whole; i += GROUP_ITEMS * LANES) {
      lanes += LOAD(0, x + i);
    }
    float sum = lane_sum(lanes);
    for (int i = whole + item; i < d; i += GROUP_ITEMS) sum += x[i];
    mean = group_sum(sum, item, parts) / (float)d;
  }
  floatL lanes = 0.0f;
  for (int i = item * LANES; i < whole; i += GROUP_ITEMS * LANES) {
    const floatL v = LOAD(0, x + i) - mean;
    lanes = MULTIPLY_ADD(v, v, lanes);
  }
  float squares = lane_sum(lanes);
  for (int i = whole + item; i < d; i += GROUP_ITEMS) {
    squares += (x[i] - mean) * (x[i] - mean);
  }
  squares = group_sum(squares, item, parts);
  const float factor = 1.0f / sqrt(squares / (float)d + epsilon);
  for (int i = item * LANES; i < whole; i += GROUP_ITEMS * LANES) {
    const floatL y = (LOAD(0, x + i) - mean) * factor;
    STORE(y * load_lanes(weight, i, 1.0f) + load_lanes(bias, i, 0.0f), 0,
          out + i);
  }
  for (int i = whole + item; i < d; i += GROUP_ITEMS) {
    out[i] = (x[i] - mean) * factor * load_one(weight, i, 1.0f) +
             load_one(bias, i, 0.0f);
  }
}
