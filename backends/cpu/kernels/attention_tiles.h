// A chunk of attention for many query heads: the keys are turned once for all
// rows and heads so that a vector holds 16 positions and scores need no sums
// across lanes.
#pragma once

#include "cpu/kernels/attention_chunk.h"

namespace rc::cpu::RC_CPU_LEVEL {

// Query heads and vectors that a tile of sums has: as many as there are
// registers for.
constexpr int kLeastTileHeads = 4;
constexpr int kTileHeads = kParts == 1 ? kAttentionHeads : 4 / (kParts / 2);
template <int heads>
constexpr int kTileVectors = kParts > 1  ? 1
                             : heads > 4 ? 2
                                         : 4;

// Turned keys: as they are stored, if that costs nothing, or as floats.
RC_SIMD Vf load_turned(const float* p) { return load(p); }
RC_SIMD Vf load_turned(const uint16_t* p) { return load_f16(p); }

// Eight positions of eight 16-bit elements each, turned.
RC_SIMD void turn(const uint8_t* const* from, int64_t at, uint16_t* to) {
  using Eight = uint16_t __attribute__((vector_size(16)));
  Eight x[8], y[8];
#pragma GCC unroll 8
  for (int k = 0; k < 8; ++k) __builtin_memcpy(&x[k], from[k] + 2 * at, 16);
    // Each step moves a bit of the place among the rows into that in a row.
#pragma GCC unroll 3
  for (int step = 0; step < 3; ++step) {
#pragma GCC unroll 4
    for (int k = 0; k < 4; ++k) {
      y[2 * k] =
          __builtin_shufflevector(x[k], x[k + 4], 0, 8, 1, 9, 2, 10, 3, 11);
      y[2 * k + 1] =
          __builtin_shufflevector(x[k], x[k + 4], 4, 12, 5, 13, 6, 14, 7, 15);
    }
#pragma GCC unroll 8
    for (int k = 0; k < 8; ++k) x[k] = y[k];
  }
#pragma GCC unroll 8
  for (int k = 0; k < 8; ++k) {
    __builtin_memcpy(to + (at + k) * kAttentionChunk, &x[k], 16);
  }
}

// The keys of a chunk, turned: [d, kAttentionChunk].
template <class Keys>
RC_PER_CHUNK void turn_keys(const AttentionTask& task, const Chunk& chunk,
                            const Chunk& next, uint16_t* to) {
  const int64_t whole = task.d / 8 * 8;
  for (int t = chunk.begin / kLanes * kLanes; t < chunk.end; t += kLanes) {
    for (int half = t; half < t + kLanes; half += 8) {
      for (int64_t i = 0; i < whole; i += 8) {
        turn(chunk.keys + half, i, to + half);
        for (int k = half; i % 32 == 0 && k < half + 8; ++k) {
          prefetch(Keys::at(next.keys[k], i));
        }
      }
    }
    for (int64_t i = whole; i < task.d; ++i) {
      for (int k = t; k < t + kLanes; ++k) {
        __builtin_memcpy(to + i * kAttentionChunk + k, chunk.keys[k] + 2 * i,
                         2);
      }
    }
  }
}

template <class Keys>
RC_PER_CHUNK void turn_keys(const AttentionTask& task, const Chunk& chunk,
                            const Chunk& next, float* to) {
  for (int t = chunk.begin / kLanes * kLanes; t < chunk.end; t += kLanes) {
    for (int64_t i = 0; i < task.d; i += kLanes) {
      float rows[kLanes * kLanes];
      for (int k = 0; k < kLanes; ++k) {
        store(rows + k * kLanes, Keys::read(chunk.keys[t + k], i, task.d - i));
        prefetch(Keys::at(next.keys[t + k], i));
      }
#pragma GCC unroll 4
      for (int c = 0; c < kLanes; c += 4) {
        Vf columns[4];
        load_columns(rows + c, kLanes, columns);
#pragma GCC unroll 4
        for (int k = 0; k < 4; ++k) {
          store(to + (i + c + k) * kAttentionChunk + t, columns[k]);
        }
      }
    }
  }
}

// The values of a chunk as floats, and where each place's are.
template <class Values>
RC_PER_CHUNK void load_values(const AttentionTask& task, const Chunk& chunk,
                              const Chunk& next, const Scratch& scratch,
                              const uint8_t** places) {
  for (int t = chunk.begin; t < chunk.end; ++t) {
    float* to = scratch.values + t * scratch.d16;
    places[t] = (const uint8_t*)to;
    for (int64_t i = 0; i < task.d; i += kLanes) {
      store(to + i, Values::read(chunk.values[t], i, task.d - i));
      prefetch(Values::at(next.values[t], i));
    }
  }
}

template <int heads, int vectors, class Key>
RC_SIMD void score_tile(const AttentionTask& task, const float* q,
                        const Key* keys, float* scores) {
  Vf total[heads][vectors];
#pragma GCC unroll 8
  for (int h = 0; h < heads; ++h) {
#pragma GCC unroll 4
    for (int v = 0; v < vectors; ++v) total[h][v] = splat(0);
  }
  for (int64_t i = 0; i < task.d; ++i, keys += kAttentionChunk) {
    Vf k[vectors];
#pragma GCC unroll 4
    for (int v = 0; v < vectors; ++v) k[v] = load_turned(keys + v * kLanes);
#pragma GCC unroll 8
    for (int h = 0; h < heads; ++h) {
      const Vf one = splat(q[h * task.d + i]);
#pragma GCC unroll 4
      for (int v = 0; v < vectors; ++v) {
        total[h][v] = fma(one, k[v], total[h][v]);
      }
    }
  }
#pragma GCC unroll 8
  for (int h = 0; h < heads; ++h) {
#pragma GCC unroll 4
    for (int v = 0; v < vectors; ++v) {
      Vf s = mul(total[h][v], splat(task.scale));
      if (task.softcap > 0) {
        const Vf cap = splat(task.softcap);
        s = mul(cap, tanh(div(s, cap)));
      }
      store(scores + h * kAttentionChunk + v * kLanes, s);
    }
  }
}

// scores[t] of `heads` queries with places `begin` to `end` - 1, and those that
// share a vector with one.
template <int heads, class Key>
RC_PER_CHUNK void score(const AttentionTask& task, const float* q,
                        const Key* keys, int begin, int end, float* scores) {
  constexpr int kTile = kTileVectors<heads> * kLanes;
  int t = begin / kLanes * kLanes;
  for (; t + kTile < end + kLanes; t += kTile) {
    score_tile<heads, kTileVectors<heads>>(task, q, keys + t, scores + t);
  }
  for (; t < end; t += kLanes) {
    score_tile<heads, 1>(task, q, keys + t, scores + t);
  }
}

template <class Values, int heads, int vectors>
RC_SIMD void accumulate_tile(const AttentionTask& task,
                             const uint8_t* const* values,
                             const uint8_t* const* next, int begin, int end,
                             const float* weights, const float* keep, int64_t i,
                             float* y) {
  Vf total[heads][vectors];
#pragma GCC unroll 8
  for (int h = 0; h < heads; ++h) {
#pragma GCC unroll 4
    for (int v = 0; v < vectors; ++v) {
      const int64_t at = i + v * kLanes;
      total[h][v] =
          mul(load_some(y + h * task.d + at, task.d - at), splat(keep[h]));
    }
  }
  for (int t = begin; t < end; ++t) {
    Vf x[vectors];
#pragma GCC unroll 4
    for (int v = 0; v < vectors; ++v) {
      const int64_t at = i + v * kLanes;
      x[v] = Values::read(values[t], at, task.d - at);
    }
    for (int v = 0; v < vectors; v += 2) {
      prefetch(Values::at(next[t], i + v * kLanes));
    }
#pragma GCC unroll 8
    for (int h = 0; h < heads; ++h) {
      const Vf weight = splat(weights[h * kAttentionChunk + t]);
#pragma GCC unroll 4
      for (int v = 0; v < vectors; ++v) {
        total[h][v] = fma(weight, x[v], total[h][v]);
      }
    }
  }
#pragma GCC unroll 8
  for (int h = 0; h < heads; ++h) {
#pragma GCC unroll 4
    for (int v = 0; v < vectors; ++v) {
      const int64_t at = i + v * kLanes;
      store_some(y + h * task.d + at, total[h][v], task.d - at);
    }
  }
}

// y = y * keep + sum over places of weights * values, for `heads` heads. `next`
// are the places that are read after these.
template <class Values, int heads>
RC_PER_CHUNK void accumulate(const AttentionTask& task,
                             const uint8_t* const* values,
                             const uint8_t* const* next, int begin, int end,
                             const float* weights, const float* keep,
                             float* y) {
  constexpr int kVectors = kTileVectors<heads>;
  int64_t i = 0;
  for (; i + kVectors * kLanes <= task.d; i += kVectors * kLanes) {
    accumulate_tile<Values, heads, kVectors>(task, values, next, begin, end,
                                             weights, keep, i, y);
  }
  for (; i < task.d; i += kLanes) {
    accumulate_tile<Values, heads, 1>(task, values, next, begin, end, weights,
                                      keep, i, y);
  }
}

// `heads` heads of one row with places `begin` to `end` - 1 of a chunk.
template <class Values, int heads, class Key>
RC_SIMD void some_heads(const AttentionTask& task, const Key* keys,
                        const uint8_t* const* values,
                        const uint8_t* const* next, int begin, int end,
                        const float* q, float* scores, float* states,
                        float* y) {
  score<heads>(task, q, keys, begin, end, scores);
  float keep[kLanes];
  weigh<heads>(begin, end, scores, states, keep);
  accumulate<Values, heads>(task, values, next, begin, end, scores, keep, y);
}

}  // namespace rc::cpu::RC_CPU_LEVEL
