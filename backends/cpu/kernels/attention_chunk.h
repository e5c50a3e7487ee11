// What both ways through a chunk of attention have in common: how the cache is
// read, and how scores become weights.
#pragma once

#include "cpu/kernels/math.h"

namespace rc::cpu::RC_CPU_LEVEL {

// How elements i to i + n - 1 of one position are read.
struct CacheF32 {
  static RC_SIMD_MEMBER Vf read(const uint8_t* p, int64_t i, int64_t n) {
    return load_some((const float*)p + i, n);
  }
};
struct CacheF16 {
  static RC_SIMD_MEMBER Vf read(const uint8_t* p, int64_t i, int64_t n) {
    const uint16_t* half = (const uint16_t*)p + i;
    if (n >= kLanes) return load_f16(half);
    uint16_t buffer[kLanes] = {};
    for (int k = 0; k < n; ++k) buffer[k] = half[k];
    return load_f16(buffer);
  }
};
struct CacheQ8_0 {
  // Heads are a multiple of 32 long.
  static RC_SIMD_MEMBER Vf read(const uint8_t* p, int64_t i, int64_t) {
    const uint8_t* block = p + i / 32 * 34;
    uint16_t halves[kLanes];
    for (int k = 0; k < kLanes; ++k) __builtin_memcpy(halves + k, block, 2);
    const Vi q = load_s8((const int8_t*)block + 2 + i % 32);
    return mul(to_float(q), load_f16(halves));
  }
};

// Not inlined: a call per chunk costs nothing, while a copy in the attention of
// each pair of types of keys and values takes long to compile.
#define RC_PER_CHUNK static __attribute__((noinline))

// The scratch of a task.
struct Scratch {
  float* keys;    // [d16, kAttentionChunk]
  float* values;  // [kAttentionChunk, d16]
  float* scores;  // [kAttentionHeads, kAttentionChunk]
  float* states;  // [rows, group, 2]: maximum and sum
  int64_t d16;    // d rounded up

  explicit Scratch(const AttentionTask& task)
      : keys(task.scratch), d16((task.d + kLanes - 1) / kLanes * kLanes) {
    values = keys + d16 * kAttentionChunk;
    scores = values + d16 * kAttentionChunk;
    states = scores + kAttentionHeads * kAttentionChunk;
  }
};

// Turns the scores of one head at positions `begin` to `end` - 1 into weights;
// `state` is its running maximum and sum. The result is the factor for what was
// summed before.
RC_PER_CHUNK float weigh(int begin, int end, float* scores, float* state) {
  const float infinity = __builtin_inff();
  const int vectors = (end + kLanes - 1) / kLanes;
  for (int t = 0; t < begin; ++t) scores[t] = -infinity;
  for (int t = end; t < vectors * kLanes; ++t) scores[t] = -infinity;
  Vf most = splat(state[0]);
  for (int v = 0; v < vectors; ++v) {
    most = largest(most, load(scores + v * kLanes));
  }
  const float maximum = largest_lane(most);
  Vf total = splat(0);
  for (int v = 0; v < vectors; ++v) {
    const Vf e = exp(sub(load(scores + v * kLanes), splat(maximum)));
    store(scores + v * kLanes, e);
    total = add(total, e);
  }
  float keep[kLanes];
  store(keep, exp(splat(state[0] - maximum)));
  state[0] = maximum;
  state[1] = state[1] * keep[0] + sum(total);
  return keep[0];
}

}  // namespace rc::cpu::RC_CPU_LEVEL
