#version 450
#extension GL_GOOGLE_include_directive : require
// WHERE: a lane has elements of the output.
#include "tensor.glsl"

// Otherwise the elements of all are those of the output, in order.
CONSTANT(1, bool, kBroadcast, false)
CONSTANT(2, uint, kEach, 8)  // elements of a lane

INPUT(1, c)
INPUT(2, a)
INPUT(3, b)
OUTPUT(8, float, y)

PARAMETERS_WITH_ARRAYS {
  GROUP_PARAMETERS
  uint c_base;
  uint a_base;
  uint b_base;
  uint y_base;
  uint count;
  uint shape[4];  // of the output
  uint c_strides[4];
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
    uint at_c = p.c_base + i;
    uint at_a = p.a_base + i;
    uint at_b = p.b_base + i;
    if (kBroadcast) {
      at_c = p.c_base;
      at_a = p.a_base;
      at_b = p.b_base;
      uint rest = i;
      [[unroll]] for (uint d = 4; d-- > 0;) {
        const uint index = rest % p.shape[d];
        rest /= p.shape[d];
        at_c += index * p.c_strides[d];
        at_a += index * p.a_strides[d];
        at_b += index * p.b_strides[d];
      }
    }
    // A NaN is not 0.
    const bool not_chosen = NUMBER(c, at_c) == 0.0;
    y[p.y_base + i] = not_chosen ? NUMBER(b, at_b) : NUMBER(a, at_a);
  }
}
