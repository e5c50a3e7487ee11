#version 450
#extension GL_GOOGLE_include_directive : require
// Ops that look at one element at a time: GLU, ADD, SCALE, SOFTCAP.
#include "common.glsl"
#include "math.glsl"

layout(constant_id = 1) const uint kOp = 0;
const uint kAdd = 4;
const uint kScale = 5;
const uint kSoftcap = 6;  // 0 to 3: GLU with RC_ACTIVATION_*

INPUT(1, a)
INPUT(2, b)
OUTPUT(8, float, y)

layout(push_constant) uniform Parameters {
  ROW_PARAMETERS
  uint width;  // elements of a row
  float factor;
}
p;

float activate(float x) {
  switch (kOp) {
    case 0:
      return x / (1.0 + exact_exp(-x));
    case 1:
      return 0.5 * x *
             (1.0 + exact_tanh(0.7978845608 * (x + 0.044715 * x * x * x)));
    case 2:
      return 0.5 * x * (1.0 + exact_erf(x * 0.7071067812));
  }
  return max(x, 0.0);
}

const uint kEach = 8;  // elements of a lane

void main() {
  const uint row = gl_WorkGroupID.y;
  if (row >= ROW_COUNT) return;
  const uint begin = COLUMN_GROUP * kLanes * kEach;
  const uint end = min(begin + kLanes * kEach, p.width);
  for (uint i = begin + gl_LocalInvocationIndex; i < end; i += kLanes) {
    const uint at = row * p.width + i;
    const float x = NUMBER(a, at);
    if (kOp == kAdd) {
      y[at] = x + NUMBER(b, at);
    } else if (kOp == kScale) {
      y[at] = x * p.factor;
    } else if (kOp == kSoftcap) {
      y[at] = p.factor * exact_tanh(x / p.factor);
    } else {
      y[at] = activate(x) * NUMBER(b, at);
    }
  }
}
