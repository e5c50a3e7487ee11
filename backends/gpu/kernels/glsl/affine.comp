#version 450
#extension GL_GOOGLE_include_directive : require
// AFFINE.
#include "common.glsl"

CONSTANT(1, uint, kEach, 8)  // elements of a lane

INPUT(1, x)
INPUT(2, weight)
INPUT(3, bias)
OUTPUT(8, float, y)

PARAMETERS {
  ROW_PARAMETERS
  uint width;  // elements of a row
  uint has_weight;
  uint has_bias;
}
p;

void main() {
  const uint row = gl_WorkGroupID.y;
  if (row >= ROW_COUNT) return;
  const uint begin = COLUMN_GROUP * kLanes * kEach;
  const uint end = min(begin + kLanes * kEach, p.width);
  for (uint i = begin + gl_LocalInvocationIndex; i < end; i += kLanes) {
    float v = NUMBER(x, row * p.width + i);
    if (p.has_weight != 0) v *= NUMBER(weight, i);
    if (p.has_bias != 0) v += NUMBER(bias, i);
    y[row * p.width + i] = v;
  }
}
