#version 450
#extension GL_GOOGLE_include_directive : require
// UNARY and BINARY: a lane has elements of the output.
#include "tensor.glsl"
#include "math.glsl"
#include "functions.glsl"

CONSTANT(1, uint, kFunction, 0)  // of one number
const uint kOfTwo = 16;  // more than RC_BINARY_*
// Otherwise the elements of both are those of the output, in order.
CONSTANT(2, bool, kBroadcast, false)
CONSTANT(3, uint, kEach, 8)  // elements of a lane

INPUT(1, a)
INPUT(2, b)
OUTPUT(8, float, y)

PARAMETERS_WITH_ARRAYS {
  GROUP_PARAMETERS
  uint a_base;
  uint b_base;
  uint y_base;
  uint count;
  uint shape[4];  // of the output
  uint a_strides[4];
  uint b_strides[4];
}
p;

void main() {
  const uint group = GROUP;
  if (NOTHING_TO_DO(group)) return;
  const uint begin = group * kLanes * kEach;
  const uint end = min(begin + kLanes * kEach, p.count);
  for (uint i = begin + gl_LocalInvocationIndex; i < end; i += kLanes) {
    uint at_a = p.a_base + i;
    uint at_b = p.b_base + i;
    if (kBroadcast) {
      at_a = p.a_base;
      at_b = p.b_base;
      uint rest = i;
      [[unroll]] for (uint d = 4; d-- > 0;) {
        const uint index = rest % p.shape[d];
        rest /= p.shape[d];
        at_a += index * p.a_strides[d];
        at_b += index * p.b_strides[d];
      }
    }
    const float x = NUMBER(a, at_a);
    if (kFunction >= kOfTwo && kFunction < 32) {
      y[p.y_base + i] = apply_to_two(kFunction - kOfTwo, x, NUMBER(b, at_b));
    } else {
      y[p.y_base + i] = apply(kFunction, x);
    }
  }
}
