#version 450
#extension GL_GOOGLE_include_directive : require
// FADING_STATE: kParts lanes have an element of a head of a sequence and keep
// its row of the state; a lane has every element of that row whose number is its
// own, modulo kParts.
#include "common.glsl"
#include "math.glsl"

CONSTANT(1, uint, kState, 64)  // elements of the row
// Whether there are a and b; their buffers are others if not.
CONSTANT(3, uint, kCorrects, 0)
#define kParts 8u
#define kEach ((kState + kParts - 1) / kParts)

INPUT(1, v)
INPUT(2, q)
INPUT(3, k)
INPUT(4, decays)
INPUT(5, a)
INPUT(6, b)
INPUT(7, bonus)
OUTPUT(8, float, y)
OUTPUT(9, float, cache)  // [slots, heads, head, kState]
INPUT(10, sequences)
INPUT(11, state_slots)
OUTPUT(12, float, own)

PARAMETERS {
  ROW_PARAMETERS
  uint bound_row;  // the first that is bound
  uint begin;
  uint end;
  uint slots;
  uint heads;
  uint head;  // elements
}
p;

#include "states.glsl"
#include "parts.glsl"

// Returns the factor of a column of the state. The number is exp(-1/2).
float kept(float x) {
  return kCorrects != 0 ? exact_exp(-0.60653066 / (1.0 + exact_exp(-x)))
                        : exact_exp(-exact_exp(x));
}

void main() {
  if (!HAS_PIECE) return;
  const uint sequence = p.first_row + gl_WorkGroupID.y;
  const uint part = gl_LocalInvocationIndex % kParts;
  const uint wanted = COLUMN_GROUP * (kLanes / kParts) +
                      gl_LocalInvocationIndex / kParts;
  const uint elements = p.heads * p.head;
  // Lanes beyond the last element do it too: all meet in each sum.
  const uint element = min(wanted, elements - 1);
  const bool writes = wanted < elements;
  const uint head = element / p.head;
  const uint from = slot_to_read(sequence);
  const uint to = slot_to_write(sequence);
  float state[SIZE(1, kEach)];
  [[unroll]] for (uint t = 0; t < kEach; ++t) {
    const uint j = t * kParts + part;
    state[t] = 0.0;
    if (from != kNowhere && j < kState) {
      state[t] = cache[(from * elements + element) * kState + j];
    }
  }
  const uint end = min(p.end, counts[0]);
  for (uint row = p.begin; row < end; ++row) {
    const uint bound = row - p.bound_row;
    if (WORD(sequences, bound) != sequence) continue;
    const uint at = bound * elements + element;
    const uint begin = (bound * p.heads + head) * kState;
    const float value = NUMBER(v, at);
    float share = 0.0;
    float sum = 0.0;
    [[unroll]] for (uint t = 0; t < kEach; ++t) {
      const uint j = t * kParts + part;
      if (j < kState) {
        const float query = NUMBER(q, begin + j);
        share = fma(NUMBER(bonus, head * kState + j) * NUMBER(k, begin + j),
                    query, share);
        const float with = kCorrects != 0 ? NUMBER(a, begin + j) : query;
        sum = fma(state[t], with, sum);
      }
    }
    share = sum_of_parts(share);
    // The product of the earlier state with a, or the output.
    sum = sum_of_parts(sum);
    float after = 0.0;
    [[unroll]] for (uint t = 0; t < kEach; ++t) {
      const uint j = t * kParts + part;
      if (j < kState) {
        state[t] *= kept(NUMBER(decays, begin + j));
        if (kCorrects != 0) {
          state[t] = fma(sum, NUMBER(b, begin + j), state[t]);
        }
        state[t] = fma(value, NUMBER(k, begin + j), state[t]);
        after = fma(state[t], NUMBER(q, begin + j), after);
      }
    }
    if (kCorrects != 0) sum = sum_of_parts(after);
    if (part == 0 && writes) {
      y[at] = sum;
      own[at] = share * value;
    }
  }
  if (to == kNowhere || !writes) return;
  [[unroll]] for (uint t = 0; t < kEach; ++t) {
    const uint j = t * kParts + part;
    if (j < kState) cache[(to * elements + element) * kState + j] = state[t];
  }
}
