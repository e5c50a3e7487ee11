#version 450
#extension GL_GOOGLE_include_directive : require
// Ops that look at one element at a time: GLU, UNARY, ADD, SCALE, SOFTCAP,
// MULTIPLY, CLAMP.
#include "common.glsl"
#include "math.glsl"
#include "functions.glsl"

CONSTANT(1, uint, kOp, 0)
const uint kAdd = 16;
const uint kScale = 17;
const uint kSoftcap = 18;
const uint kMultiply = 19;
const uint kClamp = 20;
const uint kUnary = 32;  // and above: with RC_FUNCTION_* kOp - kUnary
// Others: GLU with this RC_FUNCTION_*.
CONSTANT(2, uint, kEach, 8)  // elements of a lane

INPUT(1, a)
INPUT(2, b)
OUTPUT(8, float, y)

PARAMETERS {
  ROW_PARAMETERS
  uint width;  // elements of a row
  float factor;  // of GLU: the limit
  float offset;
}
p;

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
    } else if (kOp == kMultiply) {
      y[at] = x * NUMBER(b, at);
    } else if (kOp == kScale) {
      y[at] = x * p.factor;
    } else if (kOp == kSoftcap) {
      y[at] = p.factor * exact_tanh(x / p.factor);
    } else if (kOp == kClamp) {  // a NaN stays
      y[at] = x > p.factor ? p.factor : x < -p.factor ? -p.factor : x;
    } else if (kOp >= kUnary) {
      y[at] = apply(kOp - kUnary, x);
    } else {
      float up = NUMBER(b, at);
      float gate = x;
      if (p.factor > 0) {  // a NaN stays
        gate = gate > p.factor ? p.factor : gate;
        up = up > p.factor ? p.factor : up < -p.factor ? -p.factor : up;
      }
      y[at] = apply(kOp, gate) * (up + p.offset);
    }
  }
}
