#version 450
#extension GL_GOOGLE_include_directive : require
// CHOOSE and CHOOSE_IN_GROUPS: a work-group has one row. Experts are ordered by their scores' bits,
// so that NaNs too give valid experts; see route.comp.
#include "common.glsl"
#include "math.glsl"
#include "reduce.glsl"

CONSTANT(1, uint, kGroups, 1)  // at most 64

INPUT(1, x)
INPUT(2, bias)
OUTPUT(8, uint, ids)
OUTPUT(9, float, weights)

PARAMETERS {
  ROW_PARAMETERS
  uint experts;
  uint chosen;
  uint sigmoid;
  uint normalize;
  uint has_bias;
  uint groups_used;
  uint best;
}
p;

// Larger for the larger number; zeros are equal.
uint key(float value) {
  const uint bits = floatBitsToUint(value + 0.0);
  return (bits & 0x80000000u) != 0 ? ~bits : bits | 0x80000000u;
}

// Returns whether expert a comes before b. Each is given as key and number.
bool before(uvec2 a, uvec2 b) {
  return a.x > b.x || (a.x == b.x && a.y < b.y);
}

#ifndef TEXELS
shared uvec2 found[SIZE(1, kLanes)];
#endif

// The expert that comes first, of those of all lanes.
uvec2 first_of(uvec2 mine) {
#ifdef TEXELS
  const uint largest = subgroupMax(mine.x);
  return uvec2(largest,
               subgroupMin(mine.x == largest ? mine.y : 0xFFFFFFFFu));
#else
  barrier();
  found[gl_LocalInvocationIndex] = mine;
  barrier();
  uvec2 best = found[0];
  for (uint i = 1; i < kLanes; ++i) {
    if (before(found[i], best)) best = found[i];
  }
  return best;
#endif
}

float score_of(float value, float largest, float total) {
  return p.sigmoid != 0 ? 1.0 / (1.0 + exact_exp(-value))
                        : exact_exp(value - largest) / total;
}

float order_of(uint begin, uint e, float largest, float total) {
  const float score = score_of(NUMBER(x, begin + e), largest, total);
  return p.has_bias != 0 ? score + NUMBER(bias, e) : score;
}

// A bit for each group that has a larger score, or the same and a lower number,
// than all but groups_used - 1 others. Every lane finds all of them.
uvec2 used_groups(uint begin, float largest, float total) {
  const uint each = p.experts / kGroups;
  float scores[SIZE(2, kGroups)];
  for (uint g = 0; g < kGroups; ++g) {
    float first = NEGATIVE_INFINITY;
    float second = first;
    for (uint e = g * each; e < (g + 1) * each; ++e) {
      const float score = order_of(begin, e, largest, total);
      second = max(second, min(first, score));
      first = max(first, score);
    }
    scores[g] = p.best == 2 ? first + second : first;
  }
  uvec2 used = uvec2(0);
  for (uint g = 0; g < kGroups; ++g) {
    uint better = 0;
    for (uint o = 0; o < kGroups; ++o) {
      if (scores[o] > scores[g] || (scores[o] == scores[g] && o < g)) ++better;
    }
    if (better < p.groups_used) {
      if (g < 32) {
        used.x |= 1u << g;
      } else {
        used.y |= 1u << (g - 32);
      }
    }
  }
  return used;
}

void main() {
  const uint row = gl_WorkGroupID.y;
  if (row >= ROW_COUNT) return;
  const uint begin = row * p.experts;
  const uint lane = gl_LocalInvocationIndex;
  float largest = 0;
  float total = 1;
  if (p.sigmoid == 0) {
    float most = NUMBER(x, begin);
    for (uint e = lane; e < p.experts; e += kLanes) {
      most = max(most, NUMBER(x, begin + e));
    }
    largest = reduce_max(most);
    float part = 0;
    for (uint e = lane; e < p.experts; e += kLanes) {
      part += exact_exp(NUMBER(x, begin + e) - largest);
    }
    total = reduce_add(part);
  }
  uvec2 used = uvec2(0);
  if (kGroups > 1) used = used_groups(begin, largest, total);
  float sum = 0;
  uvec2 last = uvec2(0xFFFFFFFFu, 0);
  for (uint c = 0; c < p.chosen; ++c) {
    uvec2 best = uvec2(0, 0xFFFFFFFFu);
    for (uint e = lane; e < p.experts; e += kLanes) {
      if (kGroups > 1) {
        const uint group = e / (p.experts / kGroups);
        const uint bits = group < 32 ? used.x : used.y;
        if ((bits >> (group % 32) & 1u) == 0) continue;
      }
      const uvec2 one = uvec2(key(order_of(begin, e, largest, total)), e);
      if ((c == 0 || before(last, one)) && before(one, best)) best = one;
    }
    last = first_of(best);
    const float share = score_of(NUMBER(x, begin + last.y), largest, total);
    sum += share;
    if (lane == 0) {
      ids[row * p.chosen + c] = last.y;
      weights[row * p.chosen + c] = share;
    }
  }
  if (lane == 0 && p.normalize != 0) {
    for (uint c = 0; c < p.chosen; ++c) weights[row * p.chosen + c] /= sum;
  }
}
