#version 450
#extension GL_GOOGLE_include_directive : require
// SHORT_CONV: a lane has a channel of a sequence and keeps the last rows of it.
#include "common.glsl"
#include "math.glsl"
#include "functions.glsl"

CONSTANT(1, uint, kWidth, 4)
CONSTANT(2, uint, kFunction, 0)  // RC_FUNCTION_*

INPUT(1, x)
INPUT(2, weight)
INPUT(3, bias)
INPUT(4, sequences)
INPUT(5, state_slots)
OUTPUT(8, float, y)
OUTPUT(9, float, cache)  // [slots, kWidth - 1, d]

PARAMETERS {
  ROW_PARAMETERS
  uint bound_row;  // the first that is bound
  uint begin;
  uint end;
  uint slots;
  uint d;
  uint has_bias;
}
p;

#include "states.glsl"

void main() {
  const uint channel = COLUMN_GROUP * kLanes + gl_LocalInvocationIndex;
  if (!HAS_PIECE || channel >= p.d) return;
  const uint sequence = p.first_row + gl_WorkGroupID.y;
  const uint from = slot_to_read(sequence);
  const uint to = slot_to_write(sequence);
  float weights[SIZE(1, kWidth)];
  float window[SIZE(1, kWidth)];  // the row and those before it
  [[unroll]] for (uint i = 0; i < kWidth; ++i) {
    weights[i] = NUMBER(weight, channel * kWidth + i);
    window[i] = 0.0;
    if (i > 0 && from != kNowhere) {
      window[i] = cache[(from * (kWidth - 1) + i - 1) * p.d + channel];
    }
  }
  const float first = p.has_bias != 0 ? NUMBER(bias, channel) : 0.0;
  const uint end = min(p.end, counts[0]);
  for (uint row = p.begin; row < end; ++row) {
    const uint bound = row - p.bound_row;
    if (WORD(sequences, bound) != sequence) continue;
    const uint at = bound * p.d + channel;
    [[unroll]] for (uint i = 0; i + 1 < kWidth; ++i) window[i] = window[i + 1];
    window[kWidth - 1] = NUMBER(x, at);
    float sum = first;
    [[unroll]] for (uint i = 0; i < kWidth; ++i) {
      sum = fma(weights[i], window[i], sum);
    }
    y[at] = apply(kFunction, sum);
  }
  if (to == kNowhere) return;
  [[unroll]] for (uint i = 1; i < kWidth; ++i) {
    cache[(to * (kWidth - 1) + i - 1) * p.d + channel] = window[i];
  }
}
