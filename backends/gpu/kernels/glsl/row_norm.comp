#version 450
#extension GL_GOOGLE_include_directive : require
// RMS_NORM, GROUP_NORM, and LAYER_NORM of rows: a work-group has one vector.
#include "common.glsl"
#include "reduce.glsl"

CONSTANT(1, bool, kCenter, false)

INPUT(1, x)
INPUT(2, weight)
INPUT(3, bias)
OUTPUT(8, float, y)

PARAMETERS {
  ROW_PARAMETERS
  uint d;
  uint has_weight;
  uint has_bias;
  float epsilon;
  uint weight_step;  // from one vector of a row to the next
}
p;

void main() {
  const uint row = gl_WorkGroupID.y;
  if (row >= ROW_COUNT) return;
  const uint begin = (row * gl_NumWorkGroups.x + gl_WorkGroupID.x) * p.d;
  const uint lane = gl_LocalInvocationIndex;
  float mean = 0;
  if (kCenter) {
    for (uint i = lane; i < p.d; i += kLanes) mean += NUMBER(x, begin + i);
    mean = reduce_add(mean) / float(p.d);
  }
  float squares = 0;
  for (uint i = lane; i < p.d; i += kLanes) {
    const float value = NUMBER(x, begin + i) - mean;
    squares = fma(value, value, squares);
  }
  const float factor =
      1.0 / sqrt(reduce_add(squares) / float(p.d) + p.epsilon);
  const uint weights = gl_WorkGroupID.x * p.weight_step;
  for (uint i = lane; i < p.d; i += kLanes) {
    float value = (NUMBER(x, begin + i) - mean) * factor;
    if (p.has_weight != 0) value *= NUMBER(weight, weights + i);
    if (p.has_bias != 0) value += NUMBER(bias, i);
    y[begin + i] = value;
  }
}
