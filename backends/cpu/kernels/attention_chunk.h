// Functions that both ways through a chunk of attention share: where the cache
// has it, how that is read, and how scores become weights.
#pragma once

#include "cpu/kernels/math.h"

namespace rc::cpu::RC_CPU_LEVEL {

// Positions of a sequence, from a multiple of kAttentionChunk on, whatever the
// pages are.
struct Chunk {
  int64_t position;  // of the first place
  int begin, end;    // the places that some row sees
  // Where they are in the cache; those that no row sees are another's, so that
  // all may be read.
  const uint8_t* keys[kAttentionChunk];
  const uint8_t* values[kAttentionChunk];
};

// The chunk from `position` on for rows that see `first` to `last`, of which
// some are in it.
static void find_chunk(const AttentionTask& task, int64_t position,
                       int64_t first, int64_t last, Chunk* chunk) {
  const int begin = first > position ? (int)(first - position) : 0;
  const int end = last - position < kAttentionChunk ? (int)(last + 1 - position)
                                                    : kAttentionChunk;
  chunk->position = position;
  chunk->begin = begin;
  chunk->end = end;
  for (int t = begin; t < end;) {
    const int64_t page = task.pages[(position + t) / task.page_size];
    const int64_t slot = (position + t) % task.page_size;
    const uint8_t* key =
        task.keys + page * task.key_page_bytes + slot * task.key_bytes;
    const uint8_t* value =
        task.values + page * task.value_page_bytes + slot * task.value_bytes;
    const int64_t left = task.page_size - slot;
    for (const int stop = end - t < left ? end : t + (int)left; t < stop; ++t) {
      chunk->keys[t] = key;
      chunk->values[t] = value;
      key += task.key_bytes;
      value += task.value_bytes;
    }
  }
  for (int t = 0; t < begin; ++t) {
    chunk->keys[t] = chunk->keys[begin];
    chunk->values[t] = chunk->values[begin];
  }
  for (int t = end; t < kAttentionChunk; ++t) {
    chunk->keys[t] = chunk->keys[end - 1];
    chunk->values[t] = chunk->values[end - 1];
  }
}

// Asks for the chunk that comes next while one is worked on: pages lie
// anywhere, and processors foresee little of that. A few lines at each step, as
// the processor can wait for few at once, and loads would wait with them; into
// the second-level cache, since the first is full of what is in use.
class NextChunk {
 public:
  // For loops of about `turns` turns together; `next` is NULL behind the last
  // chunk.
  RC_SIMD_MEMBER NextChunk(const AttentionTask& task, const Chunk* next,
                           int64_t turns) {
    if (next == nullptr) return;
    keys_ = {next->keys + next->begin, next->keys + next->end, task.key_bytes};
    values_ = {next->values + next->begin, next->values + next->end,
               task.value_bytes};
    const int64_t lines =
        (next->end - next->begin) * ((task.key_bytes + kLine - 1) / kLine +
                                     (task.value_bytes + kLine - 1) / kLine);
    lines_ = (int)((lines * kEvery + turns - 1) / turns);
  }

  // At turn i of a loop.
  RC_SIMD_MEMBER void step(int64_t i) {
    if (i % kEvery != 0) return;
    for (int k = 0; k < lines_; ++k) {
      if (keys_.place == keys_.end) {
        // Values come after the keys, and nothing after them.
        if (values_.place == values_.end) return;
        keys_ = values_;
        values_.place = values_.end;
      }
      prefetch_later(*keys_.place + at_);
      at_ += kLine;
      if (at_ < keys_.bytes) continue;
      at_ = 0;
      ++keys_.place;
    }
  }

 private:
  static constexpr int64_t kLine = 64;
  // Turns that each step stands for: they are short where registers are.
  static constexpr int kEvery = kParts * kParts;
  struct Places {
    const uint8_t* const* place;
    const uint8_t* const* end;
    int64_t bytes;  // of each
  };
  Places keys_ = {}, values_ = {};
  int64_t at_ = 0;
  int lines_ = 0;  // at a step
};

// Reads elements i to i + n - 1 of one position.
// kAsStored: reading costs no more than that of floats. Turned: what turned
// keys are made of.
struct CacheF32 {
  static constexpr bool kAsStored = true;
  using Turned = float;
  static RC_SIMD_MEMBER Vf read(const uint8_t* p, int64_t i, int64_t n) {
    return load_some((const float*)p + i, n);
  }
};
template <bool half>
struct HalfOrFloat {
  using Type = float;
};
template <>
struct HalfOrFloat<true> {
  using Type = uint16_t;
};
struct CacheF16 {
  static constexpr bool kAsStored = kConvertsHalves;
  using Turned = HalfOrFloat<kConvertsHalves>::Type;
  static RC_SIMD_MEMBER Vf read(const uint8_t* p, int64_t i, int64_t n) {
    const uint16_t* half = (const uint16_t*)p + i;
    if (n >= kLanes) return load_f16(half);
    uint16_t buffer[kLanes] = {};
    for (int k = 0; k < n; ++k) buffer[k] = half[k];
    return load_f16(buffer);
  }
};
struct CacheQ8_0 {
  static constexpr bool kAsStored = false;
  using Turned = float;
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
  float* values;  // [kAttentionChunk, v16]
  float* scores;  // [kAttentionHeads, kAttentionChunk]
  float* states;  // [rows, group, 2]: maximum and sum
  int64_t v16;    // v rounded up

  explicit Scratch(const AttentionTask& task)
      : keys(task.scratch), v16((task.v + kLanes - 1) / kLanes * kLanes) {
    const int64_t d16 = (task.d + kLanes - 1) / kLanes * kLanes;
    values = keys + d16 * kAttentionChunk;
    scores = values + v16 * kAttentionChunk;
    states = scores + kAttentionHeads * kAttentionChunk;
  }
};

// Where the places of a chunk are, seen from one row.
struct Sight {
  int64_t chunk;  // the position of the first place
  int64_t row;    // that of the row
};

// Adds the terms to the scores of head `h`.
RC_PER_CHUNK void add_terms(const AttentionTerms& terms, const Sight& sight,
                            int begin, int end, int h, float* scores) {
  const int64_t most = terms.span / 2;
  for (int t = begin; t < end; ++t) {
    const int64_t distance = sight.chunk + t - sight.row;
    if (terms.slopes) {
      scores[t] -=
          terms.slopes[h] * (float)(distance < 0 ? -distance : distance);
    }
    if (terms.distances) {
      const int64_t near = distance < -most  ? -most
                           : distance > most ? most
                                             : distance;
      scores[t] += terms.distances[h * terms.span + near + most];
    }
  }
}

// Turns the scores [heads, kAttentionChunk] at places `begin` to `end` - 1 into
// weights; `states` [heads, 2] are the running maxima and sums. `keep` becomes
// the factors for what was summed before.
template <int heads>
RC_PER_CHUNK void weigh(int begin, int end, float* scores, float* states,
                        float (&keep)[kLanes]) {
  const float infinity = __builtin_inff();
  const int first = begin / kLanes * kLanes;
  const int last = (end + kLanes - 1) / kLanes * kLanes;
  float before[kLanes] = {};
  float now[kLanes] = {};
  for (int h = 0; h < heads; ++h) {
    float* s = scores + h * kAttentionChunk;
    for (int t = first; t < begin; ++t) s[t] = -infinity;
    for (int t = end; t < last; ++t) s[t] = -infinity;
    before[h] = states[2 * h];
    Vf most = splat(before[h]);
    for (int t = first; t < last; t += kLanes)
      most = largest(most, load(s + t));
    now[h] = largest_lane(most);
  }
  store(keep, exp(sub(load(before), load(now))));
  for (int h = 0; h < heads; ++h) {
    float* s = scores + h * kAttentionChunk;
    Vf total = splat(0);
    for (int t = first; t < last; t += kLanes) {
      const Vf e = exp(sub(load(s + t), splat(now[h])));
      store(s + t, e);
      total = add(total, e);
    }
    states[2 * h] = now[h];
    states[2 * h + 1] = states[2 * h + 1] * keep[h] + sum(total);
  }
}

}  // namespace rc::cpu::RC_CPU_LEVEL
