#version 450
#extension GL_GOOGLE_include_directive : require
// LAYER_NORM: a work-group has one vector.
#include "tensor.glsl"
#include "reduce.glsl"

INPUT(1, x)
INPUT(2, weight)
INPUT(3, bias)
OUTPUT(8, float, y)

PARAMETERS {
  GROUP_PARAMETERS
  uint x_base;
  uint weight_base;
  uint bias_base;
  uint y_base;
  uint d;
  uint center;
  uint has_weight;
  uint has_bias;
  float epsilon;
}
p;

#define NORM_ELEMENT(i) NUMBER(x, i)
#include "norm.glsl"

void main() {
  const uint group = GROUP;
  if (NOTHING_TO_DO(group)) return;
  const uint from = p.x_base + group * p.d;
  const uint lane = gl_LocalInvocationIndex;
  float mean = 0;
  if (p.center != 0) {
    for (uint i = lane; i < p.d; i += kLanes) mean += NUMBER(x, from + i);
    mean = reduce_add(mean) / float(p.d);
  }
  float squares = 0;
  for (uint i = lane; i < p.d; i += kLanes) {
    const float value = NUMBER(x, from + i) - mean;
    squares = fma(value, value, squares);
  }
  const Norm norm = norm_of(from, p.center != 0, mean,
                            reduce_add(squares) / float(p.d) + p.epsilon);
  for (uint i = lane; i < p.d; i += kLanes) {
    float value =
        (NUMBER(x, from + i) * norm.scale - norm.mean) * norm.factor;
    if (p.has_weight != 0) value *= NUMBER(weight, p.weight_base + i);
    if (p.has_bias != 0) value += NUMBER(bias, p.bias_base + i);
    y[p.y_base + group * p.d + i] = value;
  }
}
