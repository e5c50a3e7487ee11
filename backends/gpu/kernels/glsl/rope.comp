#version 450
#extension GL_GOOGLE_include_directive : require
// ROPE: a lane turns a pair, then copies what lies beyond the pairs.
#include "common.glsl"
#include "math.glsl"

INPUT(1, x)
INPUT(2, positions)
INPUT(3, frequencies)
OUTPUT(8, float, y)

PARAMETERS {
  ROW_PARAMETERS
  uint d;
  uint pairs;
  uint halves;
  float scale;
}
p;

void main() {
  const uint row = gl_WorkGroupID.y;
  if (row >= ROW_COUNT) return;
  const uint begin = (row * gl_NumWorkGroups.x + gl_WorkGroupID.x) * p.d;
  const float position = float(int(WORD(positions, row)));
  for (uint i = gl_LocalInvocationIndex; i < p.pairs; i += kLanes) {
    const uint first = begin + (p.halves != 0 ? i : 2 * i);
    const uint second = first + (p.halves != 0 ? p.pairs : 1);
    const vec2 turn =
        cosine_sine(position, NUMBER(frequencies, i)) * p.scale;
    // Both are read before either is written: x may be the output.
    const float a = NUMBER(x, first);
    const float b = NUMBER(x, second);
    y[first] = a * turn.x - b * turn.y;
    y[second] = a * turn.y + b * turn.x;
  }
  for (uint i = 2 * p.pairs + gl_LocalInvocationIndex; i < p.d; i += kLanes) {
    y[begin + i] = NUMBER(x, begin + i);
  }
}
