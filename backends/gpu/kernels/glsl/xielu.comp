#version 450
#extension GL_GOOGLE_include_directive : require
// XIELU.
#include "common.glsl"
#include "math.glsl"

CONSTANT(1, uint, kEach, 8)  // elements of a lane

INPUT(1, x)
OUTPUT(8, float, y)

PARAMETERS {
  ROW_PARAMETERS
  uint width;  // elements of a row
  float alpha_p;
  float alpha_n;
  float beta;
  float epsilon;
}
p;

// exp(x) - 1 without loss of digits; x is at most 1 where it counts.
float exact_expm1(float x) {
  const float t = exact_tanh(0.5 * min(x, 1.0));
  return 2.0 * t / (1.0 - t);
}

void main() {
  const uint row = gl_WorkGroupID.y;
  if (row >= ROW_COUNT) return;
  const uint begin = COLUMN_GROUP * kLanes * kEach;
  const uint end = min(begin + kLanes * kEach, p.width);
  for (uint i = begin + gl_LocalInvocationIndex; i < end; i += kLanes) {
    const float v = NUMBER(x, row * p.width + i);
    const float bent =
        v > 0 ? p.alpha_p * v * v
              : p.alpha_n * (exact_expm1(v < p.epsilon ? v : p.epsilon) - v);
    y[row * p.width + i] = bent + p.beta * v;
  }
}
