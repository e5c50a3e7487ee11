#version 450
#extension GL_GOOGLE_include_directive : require
// SPARSE_MIX: a work-group has one row.
#include "common.glsl"
#include "math.glsl"
#include "reduce.glsl"

INPUT(1, x)
OUTPUT(8, uint, ids)
OUTPUT(9, float, weights)

PARAMETERS {
  ROW_PARAMETERS
  uint experts;
  uint chosen;
  float margin;
}
p;

#ifdef WGSL
// Its text is rounded to a number beyond.
#define kLeast uintBitsToFloat((infinity_bits | 0x80000000u) - 1)
#else
const float kLeast = -3.402823466e38;
#endif

// NaN counts as the least, so that every choice is a valid number.
float number_of(uint at) {
  const float value = NUMBER(x, at);
  return isnan(value) ? kLeast : max(value, kLeast);
}

void main() {
  const uint row = gl_WorkGroupID.y;
  if (row >= ROW_COUNT) return;
  const uint begin = row * p.experts;
  const uint lane = gl_LocalInvocationIndex;
  // Left are those behind the last choice, in the order of falling numbers,
  // then rising experts.
  bool none = true;
  uint last = 0;
  float last_x = 0;
  for (uint c = 0; c < p.chosen; ++c) {
    float mine = kLeast;
    for (uint e = lane; e < p.experts; e += kLanes) {
      const float v = number_of(begin + e);
      if (none || v < last_x || (v == last_x && e > last)) mine = max(mine, v);
    }
    const float most = reduce_max(mine);
    float first = 0;  // the number of the first expert, from the end on
    float part = 0;
    for (uint e = lane; e < p.experts; e += kLanes) {
      const float v = number_of(begin + e);
      if (!(none || v < last_x || (v == last_x && e > last))) continue;
      if (v == most) first = max(first, float(p.experts - e));
      if (!(most - v > p.margin * max(abs(v), most))) {
        part += exact_exp(v - most);
      }
    }
    last = p.experts - uint(reduce_max(first));
    last_x = most;
    none = false;
    const float total = reduce_add(part);
    if (lane == 0) {
      ids[row * p.chosen + c] = last;
      weights[row * p.chosen + c] = 1.0 / total;
    }
  }
}
