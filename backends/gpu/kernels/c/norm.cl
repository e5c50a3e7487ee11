// (x - mean) * weight / sqrt(variance + epsilon) + bias of one vector by a group;
// without the mean if it is not taken away. weight and bias may be NULL.

#include "group.cl"

INLINE float load_one(const global float* x, int i, float none) {
  return x ? x[i] : none;
}

INLINE floatL load_lanes(const global float* x, int i, float none) {
  return x ? LOAD(0, x + i) : (floatL)(none);
}

// Whether F32 has no exact root of this mean square.
INLINE bool has_no_root(float square) {
  return isnan(square) || square < 0x1p-100f || square > 0x1p127f;
}

#define NORM_ROOM SHARED float parts[GROUP_ROOM];

INLINE void norm(const global float* x, const global float* weight,
                 const global float* bias, global float* out, int d,
                 float epsilon, bool center, local float* parts) {
  const int item = get_local_id(0);
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
  float square = squares / (float)d + epsilon;
  float scale = 1.0f;
  if (has_no_root(square)) {
    // Each item for itself: in vectors like that time does not matter.
    scale = square < 1.0f ? 0x1p96f : 0x1p-96f;
    mean = squares = 0.0f;
    for (int begin = 0; center && begin < d; begin += 32) {
      float piece = 0.0f;
      for (int i = begin; i < min(begin + 32, d); ++i) piece += x[i] * scale;
      mean += piece;
    }
    mean /= (float)d;
    for (int begin = 0; begin < d; begin += 32) {
      float piece = 0.0f;
      for (int i = begin; i < min(begin + 32, d); ++i) {
        const float distance = x[i] * scale - mean;
        piece += distance * distance;
      }
      squares += piece;
    }
    square = squares / (float)d + epsilon * scale * scale;
  }
  const float factor = 1.0f / sqrt(square);
  for (int i = item * LANES; i < whole; i += GROUP_ITEMS * LANES) {
    const floatL y = (LOAD(0, x + i) * scale - mean) * factor;
    STORE(y * load_lanes(weight, i, 1.0f) + load_lanes(bias, i, 0.0f), 0,
          out + i);
  }
  for (int i = whole + item; i < d; i += GROUP_ITEMS) {
    out[i] = (x[i] * scale - mean) * factor * load_one(weight, i, 1.0f) +
             load_one(bias, i, 0.0f);
  }
}
