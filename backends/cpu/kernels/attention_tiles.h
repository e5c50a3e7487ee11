// A chunk of attention for many queries: the keys are turned once for all rows
// and heads so that a vector holds 16 positions and scores need no sums across
// lanes.
#pragma once

#include "cpu/kernels/attention_chunk.h"

namespace rc::cpu::RC_CPU_LEVEL {

// Queries and vectors that a tile of sums has: as many as there are registers
// for.
constexpr int kTileQueries = kParts == 4 ? 2 : 4;
constexpr int kTileVectors = kParts == 1 ? 4 : 1;

// Queries that see the same places of a chunk: heads of one row, or the same
// head of rows that follow each other.
struct Queries {
  bool of_rows;
  int head;           // of the first
  const float* q;     // [d]
  int64_t q_stride;   // floats to the next one
  float* states;      // [2]; those of the next one follow
  float* y;           // [v]
  int64_t y_stride;   // floats to the next one
  int64_t chunk;      // the position of the chunk's first place
  const int64_t* at;  // the position of the row, or of each

  RC_SIMD_MEMBER Sight sight(int n) const {
    return {chunk, at[of_rows ? n : 0]};
  }
  RC_SIMD_MEMBER int head_of(int n) const { return of_rows ? head : head + n; }
  // Without the first n.
  RC_SIMD_MEMBER Queries from(int n) const {
    return {of_rows,  head_of(n),     q + n * q_stride,
            q_stride, states + 2 * n, y + n * y_stride,
            y_stride, chunk,          of_rows ? at + n : at};
  }
};

// Turned keys: as they are stored, if that costs nothing, or as floats.
RC_SIMD Vf load_turned(const float* p) { return load(p); }
RC_SIMD Vf load_turned(const uint16_t* p) { return load_f16(p); }

// 16-bit elements of a position that are turned at once.
constexpr int kTurned = kPartBytes / 2;

// Elements `at` to `at` + kTurned - 1 of 16 positions.
RC_SIMD void turn(const uint8_t* const* from, int64_t at, uint16_t* to) {
  B halves[2][8];
#pragma GCC unroll 2
  for (int half = 0; half < 2; ++half) {
    B x[8];
#pragma GCC unroll 8
    for (int k = 0; k < 8; ++k) x[k] = b_load(from[8 * half + k] + 2 * at);
      // Each step moves a bit of the place among the rows into that in a row.
#pragma GCC unroll 3
    for (int step = 0; step < 3; ++step) {
      B* const y = halves[half];
#pragma GCC unroll 4
      for (int k = 0; k < 4; ++k) {
        y[2 * k] = b_zip_low(x[k], x[k + 4]);
        y[2 * k + 1] = b_zip_high(x[k], x[k + 4]);
      }
#pragma GCC unroll 8
      for (int k = 0; k < 8; ++k) x[k] = y[k];
    }
  }
#pragma GCC unroll 8
  for (int k = 0; k < 8; ++k) {
    b_store_parts(to + (at + k) * kAttentionChunk, 8 * kAttentionChunk,
                  halves[0][k], halves[1][k]);
  }
}

// The keys of a chunk, turned: [d, kAttentionChunk], and undefined rows up to a
// multiple of kTurned.
template <class Keys>
RC_PER_CHUNK void turn_keys(const AttentionTask& task, const Chunk& chunk,
                            uint16_t* to) {
  const int64_t whole = task.d / kTurned * kTurned;
  for (int t = chunk.begin / kLanes * kLanes; t < chunk.end; t += kLanes) {
    for (int64_t i = 0; i < whole; i += kTurned) {
      turn(chunk.keys + t, i, to + t);
    }
    if (whole == task.d) continue;
    uint8_t rest[kLanes][kPartBytes] = {};
    const uint8_t* rows[kLanes];
    for (int k = 0; k < kLanes; ++k) {
      __builtin_memcpy(rest[k], chunk.keys[t + k] + 2 * whole,
                       2 * (task.d - whole));
      rows[k] = rest[k];
    }
    turn(rows, 0, to + whole * kAttentionChunk + t);
  }
}

template <class Keys>
RC_PER_CHUNK void turn_keys(const AttentionTask& task, const Chunk& chunk,
                            float* to) {
  for (int t = chunk.begin / kLanes * kLanes; t < chunk.end; t += kLanes) {
    for (int64_t i = 0; i < task.d; i += kLanes) {
      float rows[kLanes * kLanes];
      for (int k = 0; k < kLanes; ++k) {
        store(rows + k * kLanes, Keys::read(chunk.keys[t + k], i, task.d - i));
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
                              const Scratch& scratch, const uint8_t** places) {
  for (int t = chunk.begin; t < chunk.end; ++t) {
    float* to = scratch.values + t * scratch.v16;
    places[t] = (const uint8_t*)to;
    for (int64_t i = 0; i < task.v; i += kLanes) {
      store(to + i, Values::read(chunk.values[t], i, task.v - i));
    }
  }
}

template <int queries, int vectors, class Key>
RC_SIMD void score_tile(const AttentionTask& task, const float* q,
                        int64_t q_stride, const Key* keys, float* scores,
                        NextChunk& ahead) {
  Vf total[queries][vectors];
#pragma GCC unroll 4
  for (int h = 0; h < queries; ++h) {
#pragma GCC unroll 4
    for (int v = 0; v < vectors; ++v) total[h][v] = splat(0);
  }
  for (int64_t i = 0; i < task.d; ++i, keys += kAttentionChunk) {
    ahead.step(i);
    Vf k[vectors];
#pragma GCC unroll 4
    for (int v = 0; v < vectors; ++v) k[v] = load_turned(keys + v * kLanes);
#pragma GCC unroll 4
    for (int h = 0; h < queries; ++h) {
      const Vf one = splat(q[h * q_stride + i]);
#pragma GCC unroll 4
      for (int v = 0; v < vectors; ++v) {
        total[h][v] = fma(one, k[v], total[h][v]);
      }
    }
  }
#pragma GCC unroll 4
  for (int h = 0; h < queries; ++h) {
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

// scores[t] of `queries` queries with places `begin` to `end` - 1, and those
// that share a vector with one.
template <int queries, class Key>
RC_PER_CHUNK void score(const AttentionTask& task, const float* q,
                        int64_t q_stride, const Key* keys, int begin, int end,
                        float* scores, NextChunk& ahead) {
  constexpr int kTile = kTileVectors * kLanes;
  int t = begin / kLanes * kLanes;
  for (; t + kTile < end + kLanes; t += kTile) {
    score_tile<queries, kTileVectors>(task, q, q_stride, keys + t, scores + t,
                                      ahead);
  }
  for (; t < end; t += kLanes) {
    score_tile<queries, 1>(task, q, q_stride, keys + t, scores + t, ahead);
  }
}

// Elements i on, as many as `vectors` hold or, if they are not `whole`, there
// are.
template <class Values, int queries, int vectors, bool whole>
RC_SIMD void accumulate_tile(const AttentionTask& task,
                             const uint8_t* const* values, int begin, int end,
                             const float* weights, const float* keep, int64_t i,
                             float* y, int64_t y_stride, NextChunk& ahead) {
  const int64_t n = whole ? kLanes : task.v - i;
  Vf total[queries][vectors];
#pragma GCC unroll 4
  for (int h = 0; h < queries; ++h) {
#pragma GCC unroll 4
    for (int v = 0; v < vectors; ++v) {
      total[h][v] =
          mul(load_some(y + h * y_stride + i + v * kLanes, n), splat(keep[h]));
    }
  }
  for (int t = begin; t < end; ++t) {
    ahead.step(t);
    Vf x[vectors];
#pragma GCC unroll 4
    for (int v = 0; v < vectors; ++v) {
      x[v] = Values::read(values[t], i + v * kLanes, n);
    }
#pragma GCC unroll 4
    for (int h = 0; h < queries; ++h) {
      const Vf weight = splat(weights[h * kAttentionChunk + t]);
#pragma GCC unroll 4
      for (int v = 0; v < vectors; ++v) {
        total[h][v] = fma(weight, x[v], total[h][v]);
      }
    }
  }
#pragma GCC unroll 4
  for (int h = 0; h < queries; ++h) {
#pragma GCC unroll 4
    for (int v = 0; v < vectors; ++v) {
      store_some(y + h * y_stride + i + v * kLanes, total[h][v], n);
    }
  }
}

// y = y * keep + sum over places of weights * values, for `queries` queries.
template <class Values, int queries>
RC_PER_CHUNK void accumulate(const AttentionTask& task,
                             const uint8_t* const* values, int begin, int end,
                             const float* weights, const float* keep, float* y,
                             int64_t y_stride, NextChunk& ahead) {
  constexpr int kTile = kTileVectors * kLanes;
  int64_t i = 0;
  for (; i + kTile <= task.v; i += kTile) {
    accumulate_tile<Values, queries, kTileVectors, true>(
        task, values, begin, end, weights, keep, i, y, y_stride, ahead);
  }
  for (; i < task.v; i += kLanes) {
    accumulate_tile<Values, queries, 1, false>(
        task, values, begin, end, weights, keep, i, y, y_stride, ahead);
  }
}

// `count` queries with places `begin` to `end` - 1 of a chunk.
template <class Values, int count, class Key>
RC_SIMD void some_queries(const AttentionTask& task, const Key* keys,
                          const uint8_t* const* values, int begin, int end,
                          const Queries& queries, float* scores,
                          NextChunk& ahead) {
  score<count>(task, queries.q, queries.q_stride, keys, begin, end, scores,
               ahead);
  if (task.terms) {
    for (int n = 0; n < count; ++n) {
      add_terms(*task.terms, queries.sight(n), begin, end, queries.head_of(n),
                scores + n * kAttentionChunk);
    }
  }
  float keep[kLanes];
  weigh<count>(begin, end, scores, queries.states, keep);
  accumulate<Values, count>(task, values, begin, end, scores, keep, queries.y,
                            queries.y_stride, ahead);
}

}  // namespace rc::cpu::RC_CPU_LEVEL
