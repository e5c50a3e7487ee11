#version 450
#extension GL_GOOGLE_include_directive : require
// RMS_NORM: a work-group has one vector.
#include "common.glsl"
#include "reduce.glsl"

INPUT(1, x)
INPUT(2, weight)
OUTPUT(8, float, y)

layout(push_constant) uniform Parameters {
  ROW_PARAMETERS
  uint d;
  float epsilon;
}
p;

void main() {
  const uint row = gl_WorkGroupID.y;
  if (row >= ROW_COUNT) return;
  const uint begin = (row * gl_NumWorkGroups.x + gl_WorkGroupID.x) * p.d;
  float squares = 0;
  for (uint i = gl_LocalInvocationIndex; i < p.d; i += kLanes) {
    const float value = NUMBER(x, begin + i);
    squares = fma(value, value, squares);
  }
  const float factor =
      1.0 / sqrt(reduce_add(squares) / float(p.d) + p.epsilon);
  for (uint i = gl_LocalInvocationIndex; i < p.d; i += kLanes) {
    y[begin + i] = NUMBER(x, begin + i) * factor * NUMBER(weight, i);
  }
}
