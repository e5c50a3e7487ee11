#version 450
#extension GL_GOOGLE_include_directive : require
// CHANNEL_SCAN: kParts lanes have a channel of a sequence and keep its state; a
// lane has every element of the state whose number is its own, modulo kParts.
#include "common.glsl"
#include "math.glsl"

CONSTANT(1, uint, kState, 16)  // elements of the state
#define kParts 8u
#define kEach ((kState + kParts - 1) / kParts)

INPUT(1, x)
INPUT(2, steps)
INPUT(3, b)
INPUT(4, c)
INPUT(5, decay)
INPUT(6, skip)
OUTPUT(8, float, y)
OUTPUT(9, float, cache)  // [slots, channels, kState]
INPUT(10, sequences)
INPUT(11, state_slots)

PARAMETERS {
  ROW_PARAMETERS
  uint bound_row;  // the first that is bound
  uint begin;
  uint end;
  uint slots;
  uint channels;
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
  // Lanes beyond the last channel do it too: all meet in each sum.
  const uint channel = min(wanted, p.channels - 1);
  const bool writes = wanted < p.channels;
  const uint from = slot_to_read(sequence);
  const uint to = slot_to_write(sequence);
  float state[SIZE(1, kEach)];
  float rates[SIZE(1, kEach)];
  [[unroll]] for (uint t = 0; t < kEach; ++t) {
    const uint j = t * kParts + part;
    state[t] = 0.0;
    rates[t] = 0.0;
    if (j < kState) {
      rates[t] = NUMBER(decay, channel * kState + j);
      if (from != kNowhere) {
        state[t] = cache[(from * p.channels + channel) * kState + j];
      }
    }
  }
  const float direct = NUMBER(skip, channel);
  const uint end = min(p.end, counts[0]);
  for (uint row = p.begin; row < end; ++row) {
    const uint bound = row - p.bound_row;
    if (WORD(sequences, bound) != sequence) continue;
    const uint at = bound * p.channels + channel;
    const float value = NUMBER(x, at);
    const float step = exact_softplus(NUMBER(steps, at));
    const float added = step * value;
    float sum = 0.0;
    [[unroll]] for (uint t = 0; t < kEach; ++t) {
      const uint j = t * kParts + part;
      if (j < kState) {
        state[t] = fma(added, NUMBER(b, bound * kState + j),
                       exact_exp(step * rates[t]) * state[t]);
        sum = fma(state[t], NUMBER(c, bound * kState + j), sum);
      }
    }
    sum = sum_of_parts(sum);
    if (part == 0 && writes) y[at] = fma(direct, value, sum);
  }
  if (to == kNowhere || !writes) return;
  [[unroll]] for (uint t = 0; t < kEach; ++t) {
    const uint j = t * kParts + part;
    if (j < kState) cache[(to * p.channels + channel) * kState + j] = state[t];
  }
}
