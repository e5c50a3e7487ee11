#version 450
#extension GL_GOOGLE_include_directive : require
// EXPERT_SUM: a lane has one element of the output.
#include "common.glsl"

INPUT(1, x)
INPUT(2, weights)
OUTPUT(8, float, y)

PARAMETERS {
  ROW_PARAMETERS
  uint n;
  uint chosen;
}
p;

void main() {
  const uint row = gl_WorkGroupID.y;
  const uint column = COLUMN_GROUP * kLanes + gl_LocalInvocationIndex;
  if (row >= ROW_COUNT || column >= p.n) return;
  float sum = 0;
  for (uint c = 0; c < p.chosen; ++c) {
    const uint choice = row * p.chosen + c;
    sum = fma(NUMBER(weights, choice), NUMBER(x, choice * p.n + column), sum);
  }
  y[row * p.n + column] = sum;
}
