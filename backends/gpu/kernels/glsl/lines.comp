#version 450
#extension GL_GOOGLE_include_directive : require
// SOFTMAX, REDUCE and ARGMAX over the middle of three dimensions. A work-group
// has one line, or each lane has one.
//
// Lines too long for the loops of a device are done in stages: what is found in
// each part of a line, a pair of words, goes to memory; the parts of a line are
// joined; then, of SOFTMAX, every part is divided.
#include "tensor.glsl"
#include "math.glsl"
#include "reduce.glsl"

CONSTANT(1, uint, kOp, 0)
const uint kSum = 0;  // to kLargest: RC_REDUCE_*
const uint kMean = 1;
const uint kLargest = 2;
const uint kPlace = 3;
const uint kSoftmax = 4;
CONSTANT(2, bool, kTogether, true)  // a work-group has one

CONSTANT(3, uint, kStage, 0)
const uint kWhole = 0;   // everything at once
const uint kParts = 1;   // x to pairs [parts, lines]
const uint kJoin = 2;    // these, as x, to results; of SOFTMAX to pairs [lines]
const uint kShares = 3;  // x and these, as `joined`, to results

INPUT(1, x)
INPUT(2, joined)
OUTPUT(8, uint, y)

PARAMETERS {
  GROUP_PARAMETERS
  uint x_base;
  uint y_base;
  uint lines;
  uint n;
  uint inner;  // distance from element to element
  uint part;   // elements of a part; n if there is one
  uint parts;
}
p;

// Larger for the larger number; zeros are equal, NaN is the largest.
uint key(uint bits) {
  if ((bits & 0x7FFFFFFFu) > 0x7F800000u) return 0xFFFFFFFFu;
  if (bits == 0x80000000u) bits = 0;
  return (bits & 0x80000000u) != 0 ? ~bits : bits | 0x80000000u;
}

float number_of(uint key_) {
  if (key_ == 0xFFFFFFFFu) return NOT_A_NUMBER;
  return uintBitsToFloat((key_ & 0x80000000u) != 0 ? key_ & 0x7FFFFFFFu
                                                   : ~key_);
}

#ifndef TEXELS
shared uvec2 found[SIZE(1, kLanes)];
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

float lost_of(Sum sum) {
  // Infinities lose NaN.
  return isnan(sum.lost) || isinf(sum.lost) ? 0.0 : sum.lost;
}

const uint kNone = 0xFFFFFFFFu;

void take(inout uvec2 best, uvec2 one) {
  if (best.y == kNone || one.x > best.x) best = one;
}

void put_pair(uint at, uint first, uint second) {
  y[2 * at] = first;
  y[2 * at + 1] = second;
}

// The elements that a lane visits: begin, begin + by, ... before end; the first
// element of the line is at `from`.
struct Walk {
  uint from;
  uint begin;
  uint end;
  uint by;
};

Sum sum_of(Walk walk) {
  Sum sum = Sum(0.0, 0.0);
  for (uint i = walk.begin; i < walk.end; i += walk.by) {
    add(sum, NUMBER(x, walk.from + i * p.inner));
  }
  return Sum(all_of(sum.all), all_of(lost_of(sum)));
}

uvec2 best_of(Walk walk) {
  uvec2 best = uvec2(0, kNone);
  for (uint i = walk.begin; i < walk.end; i += walk.by) {
    take(best, uvec2(key(WORD(x, walk.from + i * p.inner)), i));
  }
  return first_of(best);
}

float shares_of(Walk walk, float largest) {
  float shares = 0;
  for (uint i = walk.begin; i < walk.end; i += walk.by) {
    shares += exact_exp(NUMBER(x, walk.from + i * p.inner) - largest);
  }
  return all_of(shares);
}

// The pairs of all parts of a line: pair i is number i * p.lines + line.
Sum join_sums(uint line, uint begin, uint by) {
  Sum sum = Sum(0.0, 0.0);
  for (uint i = begin; i < p.parts; i += by) {
    const uint at = 2 * (i * p.lines + line);
    add(sum, NUMBER(x, at));
    sum.lost += NUMBER(x, at + 1);
  }
  return Sum(all_of(sum.all), all_of(lost_of(sum)));
}

uvec2 join_best(uint line, uint begin, uint by) {
  uvec2 best = uvec2(0, kNone);
  for (uint i = begin; i < p.parts; i += by) {
    const uint at = 2 * (i * p.lines + line);
    take(best, uvec2(WORD(x, at), kOp == kSoftmax ? i : WORD(x, at + 1)));
  }
  return first_of(best);
}

float join_shares(uint line, uint begin, uint by, float largest) {
  float shares = 0;
  for (uint i = begin; i < p.parts; i += by) {
    const uint at = 2 * (i * p.lines + line);
    shares +=
        NUMBER(x, at + 1) * exact_exp(number_of(WORD(x, at)) - largest);
  }
  return all_of(shares);
}

void divide(Walk walk, float largest, float shares, uint to) {
  for (uint i = walk.begin; i < walk.end; i += walk.by) {
    const float share =
        exact_exp(NUMBER(x, walk.from + i * p.inner) - largest);
    y[to + i * p.inner] = floatBitsToUint(share / shares);
  }
}

// Returns 0 for a part that contains only negative infinity.
float without_nothing(float shares, float largest) {
  return isinf(largest) && largest < 0.0 ? 0.0 : shares;
}

void main() {
  const uint group = GROUP;
  if (NOTHING_TO_DO(group)) return;
  const uint lane = gl_LocalInvocationIndex;
  const uint units = p.lines * (kStage == kJoin ? 1 : p.parts);
  if (kTogether && group >= units) return;
  // Lanes beyond the last unit do it too: WGSL wants to see that lanes that meet
  // are all there.
  const uint wanted = kTogether ? group : group * kLanes + lane;
  const uint unit = min(wanted, units - 1);
  const bool within = wanted < units;
  const uint line = unit % p.lines;
  const uint by = kTogether ? kLanes : 1;
  const uint begin = kTogether ? lane : 0;
  const bool writes = within && (!kTogether || lane == 0);
  // The place of the element from which others are counted.
  const uint first = line / p.inner * p.n * p.inner + line % p.inner;
  const uint part = unit / p.lines * p.part;
  const Walk walk = Walk(p.x_base + first, part + begin,
                         min(part + p.part, p.n), by);

  if (kStage == kShares) {
    if (within) {
      divide(walk, number_of(WORD(joined, 2 * line)),
             NUMBER(joined, 2 * line + 1), p.y_base + first);
    }
    return;
  }
  if (kOp <= kMean) {
    Sum sum;
    if (kStage == kJoin) {
      sum = join_sums(line, begin, by);
    } else {
      sum = sum_of(walk);
    }
    float result = sum.all + sum.lost;
    if (kOp == kMean) result /= float(p.n);
    if (writes && kStage == kParts) {
      put_pair(unit, floatBitsToUint(sum.all), floatBitsToUint(sum.lost));
    } else if (writes) {
      y[p.y_base + line] = floatBitsToUint(result);
    }
    return;
  }
  uvec2 best;
  if (kStage == kJoin) {
    best = join_best(line, begin, by);
  } else {
    best = best_of(walk);
  }
  const float largest = number_of(best.x);
  if (kOp != kSoftmax) {
    if (writes && kStage == kParts) {
      put_pair(unit, best.x, best.y);
    } else if (writes) {
      y[p.y_base + line] =
          kOp == kPlace ? best.y : floatBitsToUint(largest);
    }
    return;
  }
  float shares;
  if (kStage == kJoin) {
    shares = join_shares(line, begin, by, largest);
  } else {
    shares = shares_of(walk, largest);
  }
  if (kStage == kWhole) {
    if (within) divide(walk, largest, shares, p.y_base + first);
  } else if (writes) {
    put_pair(unit, best.x,
             floatBitsToUint(kStage == kParts
                                 ? without_nothing(shares, largest)
                                 : shares));
  }
}
