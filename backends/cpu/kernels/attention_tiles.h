// A chunk of attention for many query heads: keys and values are turned into
// floats once for all rows and heads, the keys so that a vector holds 16
// positions and scores need no sums across lanes.
#pragma once

#include "cpu/kernels/attention_chunk.h"

namespace rc::cpu::RC_CPU_LEVEL {

// Query heads and vectors that a tile of sums has: as many as there are
// registers for.
constexpr int kTileHeads = kParts == 4 ? 2 : kAttentionHeads;
constexpr int kTileVectors = kParts == 1 ? 4 : 1;

// Keys of `count` positions, transposed; zeros up to a multiple of 16.
template <class Keys>
RC_PER_CHUNK void load_keys(const AttentionTask& task, const uint8_t* keys,
                            int count, float* to) {
  for (int t = 0; t < count; t += kLanes, to += kLanes) {
    for (int64_t i = 0; i < task.d; i += kLanes) {
      float rows[kLanes * kLanes];
      for (int k = 0; k < kLanes; ++k) {
        store(rows + k * kLanes,
              t + k < count
                  ? Keys::read(keys + (t + k) * task.key_bytes, i, task.d - i)
                  : splat(0));
      }
#pragma GCC unroll 4
      for (int c = 0; c < kLanes; c += 4) {
        Vf columns[4];
        load_columns(rows + c, kLanes, columns);
#pragma GCC unroll 4
        for (int k = 0; k < 4; ++k) {
          store(to + (i + c + k) * kAttentionChunk, columns[k]);
        }
      }
    }
  }
}

template <class Values>
RC_PER_CHUNK void load_values(const AttentionTask& task, const uint8_t* values,
                              int count, int64_t d16, float* to) {
  for (int t = 0; t < count; ++t) {
    for (int64_t i = 0; i < task.d; i += kLanes) {
      store(to + t * d16 + i,
            Values::read(values + t * task.value_bytes, i, task.d - i));
    }
  }
}

template <int heads, int vectors>
RC_SIMD void score_tile(const AttentionTask& task, const float* q,
                        const float* keys, float* scores) {
  Vf total[heads][vectors];
#pragma GCC unroll 4
  for (int h = 0; h < heads; ++h) {
#pragma GCC unroll 4
    for (int v = 0; v < vectors; ++v) total[h][v] = splat(0);
  }
  for (int64_t i = 0; i < task.d; ++i, keys += kAttentionChunk) {
    Vf k[vectors];
#pragma GCC unroll 4
    for (int v = 0; v < vectors; ++v) k[v] = load(keys + v * kLanes);
#pragma GCC unroll 4
    for (int h = 0; h < heads; ++h) {
      const Vf one = splat(q[h * task.d + i]);
#pragma GCC unroll 4
      for (int v = 0; v < vectors; ++v) {
        total[h][v] = fma(one, k[v], total[h][v]);
      }
    }
  }
#pragma GCC unroll 4
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

// scores[t] of `heads` queries with the first `vectors` times 16 positions.
template <int heads>
RC_PER_CHUNK void score(const AttentionTask& task, const float* q,
                        const float* keys, int vectors, float* scores) {
  int v = 0;
  for (; v + kTileVectors <= vectors; v += kTileVectors) {
    score_tile<heads, kTileVectors>(task, q, keys + v * kLanes,
                                    scores + v * kLanes);
  }
  for (; v < vectors; ++v) {
    score_tile<heads, 1>(task, q, keys + v * kLanes, scores + v * kLanes);
  }
}

template <int heads, int vectors>
RC_SIMD void accumulate_tile(const AttentionTask& task, const float* values,
                             int64_t d16, int begin, int end,
                             const float* weights, const float* keep, int64_t i,
                             float* y) {
  Vf total[heads][vectors];
#pragma GCC unroll 4
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
      x[v] = load(values + t * d16 + i + v * kLanes);
    }
#pragma GCC unroll 4
    for (int h = 0; h < heads; ++h) {
      const Vf weight = splat(weights[h * kAttentionChunk + t]);
#pragma GCC unroll 4
      for (int v = 0; v < vectors; ++v) {
        total[h][v] = fma(weight, x[v], total[h][v]);
      }
    }
  }
#pragma GCC unroll 4
  for (int h = 0; h < heads; ++h) {
#pragma GCC unroll 4
    for (int v = 0; v < vectors; ++v) {
      const int64_t at = i + v * kLanes;
      store_some(y + h * task.d + at, total[h][v], task.d - at);
    }
  }
}

// y = y * keep + sum over positions of weights * values, for `heads` heads.
template <int heads>
RC_PER_CHUNK void accumulate(const AttentionTask& task, const float* values,
                             int64_t d16, int begin, int end,
                             const float* weights, const float* keep,
                             float* y) {
  int64_t i = 0;
  for (; i + kTileVectors * kLanes <= d16; i += kTileVectors * kLanes) {
    accumulate_tile<heads, kTileVectors>(task, values, d16, begin, end, weights,
                                         keep, i, y);
  }
  for (; i < d16; i += kLanes) {
    accumulate_tile<heads, 1>(task, values, d16, begin, end, weights, keep, i,
                              y);
  }
}

// `heads` heads of one row with positions `begin` to `end` - 1 of a chunk.
template <int heads>
RC_SIMD void some_heads(const AttentionTask& task, const Scratch& scratch,
                        int begin, int end, const float* q, float* states,
                        float* y) {
  score<heads>(task, q, scratch.keys, (end + kLanes - 1) / kLanes,
               scratch.scores);
  float keep[heads];
  for (int h = 0; h < heads; ++h) {
    keep[h] =
        weigh(begin, end, scratch.scores + h * kAttentionChunk, states + 2 * h);
  }
  accumulate<heads>(task, scratch.values, scratch.d16, begin, end,
                    scratch.scores, keep, y);
}

}  // namespace rc::cpu::RC_CPU_LEVEL
