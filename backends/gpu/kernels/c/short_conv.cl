// SHORT_CONV: a work-item has LANES channels of a sequence.
//
// Defined by the host: WIDTH, columns of the weight; FUNCTION, RC_FUNCTION_*.

#include "common.cl"
#include "some.cl"
#include "functions.cl"
#include "states.cl"

#ifndef WIDTH_ROOM
#define WIDTH_ROOM WIDTH
#endif

// Column i of the weights of the channels.
INLINE floatL weights_of(const global float* weight, int i, int count) {
  float some[LANES];
  for (int l = 0; l < LANES; ++l) {
    some[l] = l < count ? weight[l * WIDTH + i] : 0.0f;
  }
  return LOAD(0, some);
}

#define BUFFERS(INPUT, OUTPUT)                                          \
  COUNTS(INPUT) INPUT(float, x) INPUT(float, weight) INPUT(float, bias) \
  INPUT(uint, sequences) INPUT(int, slots) OUTPUT(float, out)           \
  OUTPUT(float, cache)
#define PARAMETERS(P) \
  PIECE_PARAMETERS(P) P(uint, d) P(uint, has_bias)
KERNEL(short_conv) {
  OPEN
  const int channel = COLUMN;
  if (channel >= (int)d || !HAS_PIECE) return;
  const int count = d - channel;
  const Run run = RUN;
  x += channel;
  out += channel;
  cache += channel;
  floatL weights[WIDTH_ROOM];
  floatL window[WIDTH_ROOM];  // the row and those before it
  for (int i = 0; i < WIDTH; ++i) {
    weights[i] = weights_of(weight + (ulong)channel * WIDTH, i, count);
    window[i] = 0.0f;
  }
  if (run.from >= 0) {
    const global float* state = cache + (ulong)run.from * (WIDTH - 1) * d;
    for (int i = 1; i < WIDTH; ++i) {
      window[i] = load_some(state + (ulong)(i - 1) * d, count);
    }
  }
  const floatL first =
      has_bias ? load_some(bias + channel, count) : (floatL)(0.0f);
  for (uint i = begin; i < run.end; ++i) {
    const uint row = i - bound_row;
    if (sequences[row] != run.sequence) continue;
    for (int i = 0; i + 1 < WIDTH; ++i) window[i] = window[i + 1];
    window[WIDTH - 1] = load_some(x + (ulong)row * d, count);
    floatL sum = first;
    for (int i = 0; i < WIDTH; ++i) {
      sum = MULTIPLY_ADD(weights[i], window[i], sum);
    }
    store_some(apply(FUNCTION, sum), out + (ulong)row * d, count);
  }
  if (run.to < 0) return;
  global float* state = cache + (ulong)run.to * (WIDTH - 1) * d;
  for (int i = 1; i < WIDTH; ++i) {
    store_some(window[i], state + (ulong)(i - 1) * d, count);
  }
}
