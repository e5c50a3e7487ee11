#version 450
#extension GL_GOOGLE_include_directive : require
// JOIN: a lane has one element of the output.
#include "common.glsl"

INPUT(1, a)
INPUT(2, b)
OUTPUT(8, float, y)

PARAMETERS {
  ROW_PARAMETERS
  uint width;  // of a row of the output
  uint m;
  uint n;
}
p;

void main() {
  const uint row = gl_WorkGroupID.y;
  const uint column = COLUMN_GROUP * kLanes + gl_LocalInvocationIndex;
  if (row >= ROW_COUNT || column >= p.width) return;
  const uint both = p.m + p.n;
  const uint head = row * (p.width / both) + column / both;
  const uint i = column % both;
  y[row * p.width + column] = i < p.m ? NUMBER(a, head * p.m + i)
                                      : NUMBER(b, head * p.n + i - p.m);
}
