#version 450
#extension GL_GOOGLE_include_directive : require
// ROPE of tensors: a lane turns a pair, or copies one or two elements beyond the pairs.
#include "tensor.glsl"
#include "math.glsl"

INPUT(1, x)
INPUT(2, positions)
INPUT(3, frequencies)
OUTPUT(8, float, y)

layout(push_constant) uniform Parameters {
  GROUP_PARAMETERS
  uint x_base;
  uint positions_base;
  uint frequencies_base;
  uint y_base;
  uint count;  // of pairs of elements, that of an odd last one too
  uint heads;
  uint d;
  uint pairs;  // that turn
  uint halves;
  float scale;
}
p;

void main() {
  const uint group = GROUP;
  if (NOTHING_TO_DO(group)) return;
  const uint number = group * kLanes + gl_LocalInvocationIndex;
  if (number >= p.count) return;
  const uint of_head = (p.d + 1) / 2;
  const uint i = number % of_head;
  const uint vector = number / of_head;
  const uint from = p.x_base + vector * p.d;
  const uint to = p.y_base + vector * p.d;
  if (i >= p.pairs) {
    y[to + 2 * i] = NUMBER(x, from + 2 * i);
    if (2 * i + 1 < p.d) y[to + 2 * i + 1] = NUMBER(x, from + 2 * i + 1);
    return;
  }
  const uint first = p.halves != 0 ? i : 2 * i;
  const uint second = first + (p.halves != 0 ? p.pairs : 1);
  const float position =
      float(int(WORD(positions, p.positions_base + vector / p.heads)));
  const vec2 turn =
      cosine_sine(position, NUMBER(frequencies, p.frequencies_base + i)) *
      p.scale;
  const float a = NUMBER(x, from + first);
  const float b = NUMBER(x, from + second);
  y[to + first] = a * turn.x - b * turn.y;
  y[to + second] = a * turn.y + b * turn.x;
}
