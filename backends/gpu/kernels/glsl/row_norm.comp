#version 450
#extension GL_GOOGLE_include_directive : require
// RMS_NORM, GROUP_NORM, and LAYER_NORM of rows: a work-group has one vector.
#include "common.glsl"
#include "reduce.glsl"

CONSTANT(1, bool, kCenter, false)

INPUT_BOTH(1, x)
INPUT_BOTH(2, weight)
INPUT_BOTH(3, bias)
#ifdef TEXELS
OUTPUT(8, float, y)
#else
OUTPUT(8, vec4, y)
#endif

PARAMETERS {
  ROW_PARAMETERS
  uint d;
  uint has_weight;
  uint has_bias;
  float epsilon;
  uint weight_step;  // from one vector of a row to the next
}
p;

#define NUMBER_OF(name, i) uintBitsToFloat(WORD_OF(name, i))
#define QUAD_OF(name, i) uintBitsToFloat(QUAD(name, i))

#define NORM_ELEMENT(i) NUMBER_OF(x, i)
#include "norm.glsl"

float mean_square(float squares) {
  return reduce_add(squares) / float(p.d) + p.epsilon;
}

#ifndef TEXELS

// Quads i, i + kLanes, ... of x; beyond `end` they are `missing`.
struct Quads {
  vec4 a, b, c, d;
};

Quads x_quads(uint begin, uint i, uint end, float missing) {
  Quads q = Quads(vec4(missing), vec4(missing), vec4(missing), vec4(missing));
  if (i < end) q.a = QUAD_OF(x, begin + i);
  if (i + kLanes < end) q.b = QUAD_OF(x, begin + i + kLanes);
  if (i + 2 * kLanes < end) q.c = QUAD_OF(x, begin + i + 2 * kLanes);
  if (i + 3 * kLanes < end) q.d = QUAD_OF(x, begin + i + 3 * kLanes);
  return q;
}

float sum_of(vec4 v) { return (v.x + v.y) + (v.z + v.w); }

void put_quad(vec4 value, uint begin, uint weights, uint i) {
  if (p.has_weight != 0) value *= QUAD_OF(weight, weights + i);
  if (p.has_bias != 0) value += QUAD_OF(bias, i);
  y[begin + i] = value;
}

// Norms a vector of whole quads, which `begin`, `weights` and `quads` count.
// Four reads are in flight at once.
void norm_quads(uint begin, uint weights, uint quads) {
  const uint lane = gl_LocalInvocationIndex;
  float mean = 0;
  if (kCenter) {
    vec4 sums = vec4(0);
    for (uint i = lane; i < quads; i += 4 * kLanes) {
      const Quads q = x_quads(begin, i, quads, 0);
      sums += (q.a + q.b) + (q.c + q.d);
    }
    mean = reduce_add(sum_of(sums)) / float(p.d);
  }
  vec4 squares = vec4(0);
  for (uint i = lane; i < quads; i += 4 * kLanes) {
    const Quads q = x_quads(begin, i, quads, mean);
    squares = fma(q.a - mean, q.a - mean, squares);
    squares = fma(q.b - mean, q.b - mean, squares);
    squares = fma(q.c - mean, q.c - mean, squares);
    squares = fma(q.d - mean, q.d - mean, squares);
  }
  const Norm norm =
      norm_of(4 * begin, kCenter, mean, mean_square(sum_of(squares)));
  for (uint i = lane; i < quads; i += 2 * kLanes) {
    const bool two = i + kLanes < quads;
    const vec4 first = QUAD_OF(x, begin + i);
    const vec4 second = two ? QUAD_OF(x, begin + i + kLanes) : vec4(0);
    put_quad((first * norm.scale - norm.mean) * norm.factor, begin, weights, i);
    if (two) {
      put_quad((second * norm.scale - norm.mean) * norm.factor, begin, weights,
               i + kLanes);
    }
  }
}

#endif

void main() {
  const uint row = gl_WorkGroupID.y;
  if (row >= ROW_COUNT) return;
  const uint begin = (row * gl_NumWorkGroups.x + gl_WorkGroupID.x) * p.d;
  const uint weights = gl_WorkGroupID.x * p.weight_step;
#ifndef TEXELS
  if (p.d % 4 == 0) {
    norm_quads(begin / 4, weights / 4, p.d / 4);
    return;
  }
#endif
  const uint lane = gl_LocalInvocationIndex;
  float mean = 0;
  if (kCenter) {
    for (uint i = lane; i < p.d; i += kLanes) mean += NUMBER_OF(x, begin + i);
    mean = reduce_add(mean) / float(p.d);
  }
  float squares = 0;
  for (uint i = lane; i < p.d; i += kLanes) {
    const float value = NUMBER_OF(x, begin + i) - mean;
    squares = fma(value, value, squares);
  }
  const Norm norm = norm_of(begin, kCenter, mean, mean_square(squares));
  for (uint i = lane; i < p.d; i += kLanes) {
    float value =
        (NUMBER_OF(x, begin + i) * norm.scale - norm.mean) * norm.factor;
    if (p.has_weight != 0) value *= NUMBER_OF(weight, weights + i);
    if (p.has_bias != 0) value += NUMBER_OF(bias, i);
#ifdef TEXELS
    y[begin + i] = value;
#else
    y[(begin + i) / 4][(begin + i) % 4] = value;
#endif
  }
}
