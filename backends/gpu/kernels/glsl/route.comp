#version 450
#extension GL_GOOGLE_include_directive : require
// ROUTE: a work-group has one row. Experts are ordered by their numbers' bits,
// so that NaNs too give valid experts.
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
  uint normalize;
}
p;

// Larger for the larger number; zeros are equal.
uint key(float value) {
  const uint bits = floatBitsToUint(value + 0.0);
  return (bits & 0x80000000u) != 0 ? ~bits : bits | 0x80000000u;
}

// Returns whether expert a comes before b. Each is given as key and number.
bool before(uvec2 a, uvec2 b) {
  return a.x > b.x || (a.x == b.x && a.y < b.y);
}

#ifndef TEXELS
shared uvec2 found[SIZE(1, kLanes)];
#endif

// The expert that comes first, of those of all lanes.
uvec2 first_of(uvec2 mine) {
#ifdef TEXELS
  const uint largest = subgroupMax(mine.x);
  return uvec2(largest,
               subgroupMin(mine.x == largest ? mine.y : 0xFFFFFFFFu));
#else
  barrier();
  found[gl_LocalInvocationIndex] = mine;
  barrier();
  uvec2 best = found[0];
  for (uint i = 1; i < kLanes; ++i) {
    if (before(found[i], best)) best = found[i];
  }
  return best;
#endif
}

void main() {
  const uint row = gl_WorkGroupID.y;
  if (row >= ROW_COUNT) return;
  const uint begin = row * p.experts;
  const uint lane = gl_LocalInvocationIndex;
  float largest = 0;
  float sum = 0;  // of what the weights are divided by
  uvec2 last = uvec2(0xFFFFFFFFu, 0);
  for (uint c = 0; c < p.chosen; ++c) {
    uvec2 best = uvec2(0, 0xFFFFFFFFu);
    for (uint e = lane; e < p.experts; e += kLanes) {
      const uvec2 one = uvec2(key(NUMBER(x, begin + e)), e);
      if ((c == 0 || before(last, one)) && before(one, best)) best = one;
    }
    last = first_of(best);
    const float value = NUMBER(x, begin + last.y);
    if (c == 0) {
      largest = value;
      if (p.normalize == 0) {
        float part = 0;
        for (uint e = lane; e < p.experts; e += kLanes) {
          part += exact_exp(NUMBER(x, begin + e) - largest);
        }
        sum = reduce_add(part);
      }
    }
    if (p.normalize != 0) sum += exact_exp(value - largest);
    if (lane == 0) ids[row * p.chosen + c] = last.y;
  }
  if (lane == 0) {
    for (uint c = 0; c < p.chosen; ++c) {
      const uint at = row * p.chosen + c;
      weights[at] = exact_exp(NUMBER(x, begin + ids[at]) - largest) / sum;
    }
  }
}
