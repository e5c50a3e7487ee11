#version 450
#extension GL_GOOGLE_include_directive : require
// SOFTMAX, REDUCE and ARGMAX over the middle of three dimensions. A work-group
// has one line, or each lane has one.
#include "tensor.glsl"
#include "math.glsl"
#include "reduce.glsl"

layout(constant_id = 1) const uint kOp = 0;
const uint kSum = 0;  // to kLargest: RC_REDUCE_*
const uint kMean = 1;
const uint kLargest = 2;
const uint kPlace = 3;
const uint kSoftmax = 4;
layout(constant_id = 2) const bool kTogether = true;  // a work-group has one

INPUT(1, x)
OUTPUT(8, uint, y)

layout(push_constant) uniform Parameters {
  GROUP_PARAMETERS
  uint x_base;
  uint y_base;
  uint lines;
  uint n;
  uint inner;  // distance from element to element
}
p;

// Larger for the larger number; zeros are equal, NaN is the largest.
uint key(uint bits) {
  if ((bits & 0x7FFFFFFFu) > 0x7F800000u) return 0xFFFFFFFFu;
  if (bits == 0x80000000u) bits = 0;
  return (bits & 0x80000000u) != 0 ? ~bits : bits | 0x80000000u;
}

float number_of(uint key_) {
  if (key_ == 0xFFFFFFFFu) return uintBitsToFloat(0x7FC00000u);
  return uintBitsToFloat((key_ & 0x80000000u) != 0 ? key_ & 0x7FFFFFFFu
                                                   : ~key_);
}

#ifndef TEXELS
shared uvec2 found[kLanes];
#endif

// The largest key of all lanes, and the first place that has it.
uvec2 first_of(uvec2 mine) {
  if (!kTogether) return mine;
#ifdef TEXELS
  const uint largest = subgroupMax(mine.x);
  return uvec2(largest, subgroupMin(mine.x == largest ? mine.y : 0xFFFFFFFFu));
#else
  const uint lane = gl_LocalInvocationIndex;
  barrier();
  found[lane] = mine;
  for (uint half_ = kLanes / 2; half_ > 0; half_ /= 2) {
    barrier();
    if (lane < half_) {
      const uvec2 a = found[lane];
      const uvec2 b = found[lane + half_];
      if (b.x > a.x || (b.x == a.x && b.y < a.y)) found[lane] = b;
    }
  }
  barrier();
  return found[0];
#endif
}

float all_of(float part) { return kTogether ? reduce_add(part) : part; }

// A sum that keeps what each addition rounds away (Neumaier 1974).
struct Sum {
  float all;
  float lost;
};

void add(inout Sum sum, float value) {
  precise float all = sum.all + value;
  precise float other = all - sum.all;
  precise float kept = all - other;
  precise float lost = sum.all - kept;
  precise float rest = value - other;
  lost = lost + rest;
  sum.lost += lost;
  sum.all = all;
}

float total(Sum sum) {
  // Infinities lose NaN.
  const float lost = isnan(sum.lost) || isinf(sum.lost) ? 0.0 : sum.lost;
  const float all = all_of(sum.all);
  return all + all_of(lost);
}

void main() {
  const uint group = GROUP;
  if (NOTHING_TO_DO(group)) return;
  const uint lane = gl_LocalInvocationIndex;
  const uint line = kTogether ? group : group * kLanes + lane;
  if (line >= p.lines) return;
  const uint begin = kTogether ? lane : 0;
  const uint by = kTogether ? kLanes : 1;
  // Of the element from which others are counted.
  const uint first =
      line / p.inner * p.n * p.inner + line % p.inner;
  const uint from = p.x_base + first;
  const bool writes = !kTogether || lane == 0;

  if (kOp <= kMean) {
    Sum sum = Sum(0.0, 0.0);
    for (uint i = begin; i < p.n; i += by) {
      add(sum, NUMBER(x, from + i * p.inner));
    }
    float result = total(sum);
    if (kOp == kMean) result /= float(p.n);
    if (writes) y[p.y_base + line] = floatBitsToUint(result);
    return;
  }
  uvec2 best = uvec2(0, 0xFFFFFFFFu);
  for (uint i = begin; i < p.n; i += by) {
    const uint one = key(WORD(x, from + i * p.inner));
    if (best.y == 0xFFFFFFFFu || one > best.x) best = uvec2(one, i);
  }
  best = first_of(best);
  if (kOp == kPlace) {
    if (writes) y[p.y_base + line] = best.y;
    return;
  }
  const float largest = number_of(best.x);
  if (kOp == kLargest) {
    if (writes) y[p.y_base + line] = floatBitsToUint(largest);
    return;
  }
  float shares = 0;
  for (uint i = begin; i < p.n; i += by) {
    shares += exact_exp(NUMBER(x, from + i * p.inner) - largest);
  }
  shares = all_of(shares);
  for (uint i = begin; i < p.n; i += by) {
    const float share = exact_exp(NUMBER(x, from + i * p.inner) - largest);
    y[p.y_base + first + i * p.inner] = floatBitsToUint(share / shares);
  }
}
