#version 450
#extension GL_GOOGLE_include_directive : require
// COPY: a lane writes words of the output. Elements and blocks are grains of 1,
// 2 or 4 bytes, whichever divides their bytes.
#include "tensor.glsl"

CONSTANT(1, uint, kGrain, 4)  // bytes
CONSTANT(2, uint, kEach, 8)  // words of a lane

INPUT(1, x)
OUTPUT(8, uint, y)

#include "put_word.glsl"

PARAMETERS_WITH_ARRAYS {
  GROUP_PARAMETERS
  uint x_base;      // in grains, as all that follows
  uint y_base;
  uint count;
  uint unit;        // an element or a block
  uint shape[4];    // of the output, in units
  uint strides[4];  // of x, from unit to unit
}
p;

#define kGrains (4 / kGrain)

uint grain(uint i) {
  if (kGrain == 4) return WORD(x, i);
  const uint mask = kGrain == 2 ? 0xFFFFu : 0xFFu;
  return (WORD(x, i / kGrains) >> (i % kGrains * 8 * kGrain)) & mask;
}

// Where grain i of the output comes from.
uint source(uint i) {
  uint unit = i / p.unit;
  uint at = p.x_base + i % p.unit;
  [[unroll]] for (uint d = 4; d-- > 0;) {
    at += unit % p.shape[d] * p.strides[d];
    unit /= p.shape[d];
  }
  return at;
}

void main() {
  const uint group = GROUP;
  if (NOTHING_TO_DO(group)) return;
  const uint before = p.y_base % kGrains;  // grains of the first word
  const uint words = (before + p.count + kGrains - 1) / kGrains;
  const uint begin = group * kLanes * kEach;
  const uint end = min(begin + kLanes * kEach, words);
  for (uint w = begin + gl_LocalInvocationIndex; w < end; w += kLanes) {
    uint bits = 0;
    uint mask = 0;
    [[unroll]] for (uint g = 0; g < kGrains; ++g) {
      const uint i = w * kGrains + g - before;  // huge before the first
      if (i < p.count) {
        const uint ones = 0xFFFFFFFFu >> (32 - 8 * kGrain);
        bits |= grain(source(i)) << (g * 8 * kGrain);
        mask |= ones << (g * 8 * kGrain);
      }
    }
    put_word(p.y_base / kGrains + w, bits, mask);
  }
}
