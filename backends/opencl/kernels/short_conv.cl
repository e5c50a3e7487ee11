// SHORT_CONV: a work-item has LANES channels of a sequence.
//
// Defined by the host: WIDTH, columns of the weight.

#include "common.cl"
#include "some.cl"
#include "functions.cl"
#include "states.cl"

// Column i of the weights of the channels.
INLINE floatL weights_of(const global float* weight, int i, int count) {
  float some[LANES];
  for (int l = 0; l < LANES; ++l) {
    some[l] = l < count ? weight[l * WIDTH + i] : 0.0f;
  }
  return LOAD(0, some);
}

kernel void short_conv(const global float* x, ulong x_at,
                       const global float* weight, const global float* bias,
                       const global int* sequences, ulong sequences_at,
                       const global int* slots, ulong slots_at,
                       global float* cache, ulong cache_at, global float* out,
                       ulong out_at, int d, int slot_count, int function,
                       const global int* counts) {
  const int channel = get_global_id(0) * LANES;
  if (channel >= d) return;
  const int count = d - channel;
  const Run run =
      run_of(sequences + sequences_at, slots + slots_at, slot_count, counts);
  x += x_at + channel;
  out += out_at + channel;
  cache += cache_at + channel;
  floatL weights[WIDTH];
  floatL window[WIDTH];  // the row and those before it
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
  const floatL first = bias ? load_some(bias + channel, count) : (floatL)(0.0f);
  for (int row = 0; row < run.rows; ++row) {
    if (run.sequences[row] != run.sequence) continue;
    for (int i = 0; i + 1 < WIDTH; ++i) window[i] = window[i + 1];
    window[WIDTH - 1] = load_some(x + (ulong)row * d, count);
    floatL sum = first;
    for (int i = 0; i < WIDTH; ++i) {
      sum = MULTIPLY_ADD(weights[i], window[i], sum);
    }
    store_some(apply(function, sum), out + (ulong)row * d, count);
  }
  if (run.to < 0) return;
  global float* state = cache + (ulong)run.to * (WIDTH - 1) * d;
  for (int i = 1; i < WIDTH; ++i) {
    store_some(window[i], state + (ulong)(i - 1) * d, count);
  }
}
