#version 450
#extension GL_GOOGLE_include_directive : require
// DELTA_RULE: kParts lanes have an element of a head of a sequence and keep its
// row of the state; a lane has every element of that row whose number is its
// own, modulo kParts.
#include "common.glsl"
#include "math.glsl"

CONSTANT(1, uint, kState, 128)  // elements of the row
#define kParts 8u
#define kEach ((kState + kParts - 1) / kParts)

INPUT(1, v)
INPUT(2, q)
INPUT(3, k)
INPUT(4, steps)
INPUT(5, rates)
INPUT(6, step_bias)
INPUT(7, decay)
OUTPUT(8, float, y)
OUTPUT(9, float, cache)  // [slots, heads, head, kState]
INPUT(10, sequences)
INPUT(11, state_slots)

PARAMETERS {
  ROW_PARAMETERS
  uint bound_row;  // the first that is bound
  uint begin;
  uint end;
  uint slots;
  uint heads;
  uint head;  // elements
  uint groups;
  uint interleaved;
}
p;

#include "states.glsl"
#include "parts.glsl"

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
  const uint group = p.interleaved != 0 ? head % p.groups
                                        : head / (p.heads / p.groups);
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
  const float bias = NUMBER(step_bias, head);
  const float loss = NUMBER(decay, head);
  const uint end = min(p.end, counts[0]);
  for (uint row = p.begin; row < end; ++row) {
    const uint bound = row - p.bound_row;
    if (WORD(sequences, bound) != sequence) continue;
    const uint at = bound * elements + element;
    const float step =
        exact_softplus(NUMBER(steps, bound * p.heads + head) + bias);
    const float kept = exact_exp(step * loss);
    const uint begin = (bound * p.groups + group) * kState;
    float known = 0.0;
    [[unroll]] for (uint t = 0; t < kEach; ++t) {
      const uint j = t * kParts + part;
      if (j < kState) {
        state[t] *= kept;
        known = fma(state[t], NUMBER(k, begin + j), known);
      }
    }
    known = sum_of_parts(known);
    const float change =
        NUMBER(rates, bound * p.heads + head) * (NUMBER(v, at) - known);
    float sum = 0.0;
    [[unroll]] for (uint t = 0; t < kEach; ++t) {
      const uint j = t * kParts + part;
      if (j < kState) {
        state[t] = fma(change, NUMBER(k, begin + j), state[t]);
        sum = fma(state[t], NUMBER(q, begin + j), sum);
      }
    }
    sum = sum_of_parts(sum);
    if (part == 0 && writes) y[at] = sum;
  }
  if (to == kNowhere || !writes) return;
  [[unroll]] for (uint t = 0; t < kEach; ++t) {
    const uint j = t * kParts + part;
    if (j < kState) cache[(to * elements + element) * kState + j] = state[t];
  }
}
