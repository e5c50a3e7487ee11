#version 450
#extension GL_GOOGLE_include_directive : require
// ROPE of tensors: a work-group turns neighbouring heads of a row; a lane turns a
// pair of each, then copies what lies beyond the pairs.
#include "tensor.glsl"
#include "math.glsl"

INPUT(1, x)
INPUT(2, positions)
INPUT(3, frequencies)
OUTPUT(8, float, y)

PARAMETERS {
  GROUP_PARAMETERS
  uint x_base;
  uint positions_base;
  uint frequencies_base;
  uint y_base;
  uint heads;
  uint group_heads;
  uint d;
  uint pairs;  // that turn
  uint halves;
  float scale;
}
p;

void turn_head(uint from, uint to, float position) {
  for (uint i = gl_LocalInvocationIndex; i < p.pairs; i += kLanes) {
    const uint first = p.halves != 0 ? i : 2 * i;
    const uint second = first + (p.halves != 0 ? p.pairs : 1);
    const vec2 turn =
        cosine_sine(position, NUMBER(frequencies, p.frequencies_base + i)) *
        p.scale;
    const float a = NUMBER(x, from + first);
    const float b = NUMBER(x, from + second);
    y[to + first] = a * turn.x - b * turn.y;
    y[to + second] = a * turn.y + b * turn.x;
  }
  for (uint i = 2 * p.pairs + gl_LocalInvocationIndex; i < p.d; i += kLanes) {
    y[to + i] = NUMBER(x, from + i);
  }
}

void main() {
  const uint group = GROUP;
  if (NOTHING_TO_DO(group)) return;
  const uint row_groups = (p.heads + p.group_heads - 1) / p.group_heads;
  const uint row = group / row_groups;
  const uint first = group % row_groups * p.group_heads;
  const float position = float(int(WORD(positions, p.positions_base + row)));
  const uint end = min(first + p.group_heads, p.heads);
  for (uint head = first; head < end; ++head) {
    const uint at = (row * p.heads + head) * p.d;
    turn_head(p.x_base + at, p.y_base + at, position);
  }
}
