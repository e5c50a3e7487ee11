// Attention of some rows over the pages of their sequence in one pass, with a
// running maximum and sum (Milakov and Gimelshein 2018, arXiv:1805.02867).
// Positions are taken in order, in chunks that begin at multiples of
// kAttentionChunk, whatever the rows are: what a row gets does not depend on
// which rows are with it.
#include "cpu/kernels/attention_tiles.h"
#include "cpu/kernels/levels.h"

namespace rc::cpu::RC_CPU_LEVEL {
namespace {

// Of sums across lanes: from how many on 16 are made at once.
constexpr int kLeastAtOnce = 6;

// Scores of one head with places `begin` to `end` - 1, as they are in the
// cache.
template <class Keys>
RC_PER_CHUNK void score_alone(const AttentionTask& task, const float* q,
                              const uint8_t* const* keys, int begin, int end,
                              float* scores, NextChunk& ahead) {
  int rest = begin;  // from where on they are made one by one
  if constexpr (kParts == 1) {
    // 16 sums across lanes at once; there are keys at places that no row sees.
    int first = begin / kLanes * kLanes;
    for (; end - first >= kLeastAtOnce; first += kLanes) {
      Vf totals[kLanes];
#pragma GCC unroll 16
      for (int k = 0; k < kLanes; ++k) totals[k] = splat(0);
      for (int64_t i = 0; i < task.d; i += kLanes) {
        const Vf part = load_some(q + i, task.d - i);
#pragma GCC unroll 16
        for (int k = 0; k < kLanes; ++k) {
          totals[k] =
              fma(part, Keys::read(keys[first + k], i, task.d - i), totals[k]);
        }
      }
      for (int k = 0; k < kLanes; ++k) ahead.step(first + k);
      store(scores + first, mul(sums(totals), splat(task.scale)));
    }
    rest = first > begin ? first : begin;
  }
  for (int t = rest; t < end; ++t) {
    ahead.step(t);
    Vf total = splat(0);
    for (int64_t i = 0; i < task.d; i += kLanes) {
      total = fma(load_some(q + i, task.d - i),
                  Keys::read(keys[t], i, task.d - i), total);
    }
    scores[t] = sum(total) * task.scale;
  }
  if (task.softcap <= 0) return;
  const Vf cap = splat(task.softcap);
  for (int t = begin; t < end; t += kLanes) {
    const Vf s = load_some(scores + t, end - t);
    store_some(scores + t, mul(cap, tanh(div(s, cap))), end - t);
  }
}

// One row with a chunk, head by head.
template <class Keys, class Values>
RC_SIMD void take_alone(const AttentionTask& task, const Scratch& scratch,
                        const Chunk& chunk, const Sight& sight, int begin,
                        int end, const float* q, float* states, float* y,
                        NextChunk& ahead) {
  for (int h = 0; h < task.group; ++h) {
    score_alone<Keys>(task, q + h * task.d, chunk.keys, begin, end,
                      scratch.scores, ahead);
    if (task.terms) {
      add_terms(*task.terms, sight, begin, end, h, scratch.scores);
    }
    float keep[kLanes];
    weigh<1>(begin, end, scratch.scores, states + 2 * h, keep);
    accumulate<Values, 1>(task, chunk.values, begin, end, scratch.scores, keep,
                          y + h * task.v, task.v, ahead);
  }
}

// `count` queries with a chunk whose keys are turned, `most` at once as long as
// there are so many.
template <class Values, int most = kTileQueries, class Key>
RC_SIMD void take_tiles(const AttentionTask& task, const Scratch& scratch,
                        const Key* keys, const uint8_t* const* values,
                        int begin, int end, const Queries& queries, int count,
                        NextChunk& ahead) {
  int n = 0;
  for (; n + most <= count; n += most) {
    some_queries<Values, most>(task, keys, values, begin, end, queries.from(n),
                               scratch.scores, ahead);
  }
  if constexpr (most > 1) {
    if (n == count) return;
    take_tiles<Values, most - 1>(task, scratch, keys, values, begin, end,
                                 queries.from(n), count - n, ahead);
  }
}

// The places of a chunk that row r sees; none where begin is not below end.
struct Seen {
  int begin, end;

  RC_SIMD_MEMBER Seen(const AttentionTask& task, const Chunk& chunk, int r) {
    const int64_t last = task.last[r] - chunk.position;
    const int64_t first = task.first[r] - chunk.position;
    begin = first > 0 ? (int)first : 0;
    end = last + 1 < chunk.end ? (int)(last + 1) : chunk.end;
  }
};

// Rows with a chunk whose keys are turned.
template <class Values, class Key>
RC_SIMD void take_turned(const AttentionTask& task, const Scratch& scratch,
                         const Chunk& chunk, const Key* keys,
                         const uint8_t* const* values, NextChunk& ahead) {
  for (int r = 0, rows = 1; r < task.rows; r += rows, rows = 1) {
    const Seen seen(task, chunk, r);
    // Rows of one head that see the same places go together.
    const bool of_rows = task.group == 1;
    while (of_rows && r + rows < task.rows) {
      const Seen next(task, chunk, r + rows);
      if (next.begin != seen.begin || next.end != seen.end) break;
      ++rows;
    }
    if (seen.begin >= seen.end) continue;
    const Queries queries = {of_rows,
                             0,
                             task.q + r * task.q_stride,
                             of_rows ? task.q_stride : task.d,
                             scratch.states + 2 * r * task.group,
                             task.y + r * task.y_stride,
                             of_rows ? task.y_stride : task.v,
                             chunk.position,
                             task.at + r};
    take_tiles<Values>(task, scratch, keys, values, seen.begin, seen.end,
                       queries, of_rows ? rows : task.group, ahead);
  }
}

// Turns of the loops that one row with a chunk takes, at least; see NextChunk.
int64_t turns_alone(const AttentionTask& task) {
  return task.group * 2 * kAttentionChunk;
}
int64_t turns_of_tiles(const AttentionTask& task) {
  const int64_t tiles = (task.group + kTileQueries - 1) / kTileQueries;
  return tiles * 2 * task.d * (kAttentionChunk / (kTileVectors * kLanes));
}

// All rows with a chunk. `next` is NULL behind the last.
template <class Keys, class Values>
RC_SIMD void take_chunk(const AttentionTask& task, const Scratch& scratch,
                        const Chunk& chunk, const Chunk* next) {
  if (!task.turns_keys) {
    NextChunk ahead(task, next, turns_alone(task));
    for (int r = 0; r < task.rows; ++r) {
      const Seen seen(task, chunk, r);
      if (seen.begin >= seen.end) continue;
      take_alone<Keys, Values>(task, scratch, chunk,
                               Sight{chunk.position, task.at[r]}, seen.begin,
                               seen.end, task.q + r * task.q_stride,
                               scratch.states + 2 * r * task.group,
                               task.y + r * task.y_stride, ahead);
    }
    return;
  }
  NextChunk ahead(task, next, turns_of_tiles(task));
  typename Keys::Turned* keys = (typename Keys::Turned*)scratch.keys;
  turn_keys<Keys>(task, chunk, keys);
  if constexpr (Values::kAsStored) {
    take_turned<Values>(task, scratch, chunk, keys, chunk.values, ahead);
  } else {
    const uint8_t* floats[kAttentionChunk];
    load_values<Values>(task, chunk, scratch, floats);
    take_turned<CacheF32>(task, scratch, chunk, keys, floats, ahead);
  }
}

template <class Keys, class Values>
void attention(const AttentionTask& task) {
  const Scratch scratch(task);
  int64_t first = task.first[0];
  int64_t last = task.last[0];
  for (int r = 0; r < task.rows; ++r) {
    if (task.first[r] < first) first = task.first[r];
    if (task.last[r] > last) last = task.last[r];
    for (int h = 0; h < task.group; ++h) {
      float* state = scratch.states + 2 * (r * task.group + h);
      // A sink is a position seen before all others, of values that are zero.
      state[0] = task.sinks ? task.sinks[h] : -__builtin_inff();
      state[1] = task.sinks ? 1 : 0;
    }
    float* y = task.y + r * task.y_stride;
    for (int64_t i = 0; i < task.group * task.v; ++i) y[i] = 0;
  }

  Chunk chunks[2];
  int64_t position = first / kAttentionChunk * kAttentionChunk;
  find_chunk(task, position, first, last, &chunks[0]);
  for (int now = 0; position <= last; now = 1 - now) {
    position += kAttentionChunk;
    Chunk& next = chunks[1 - now];
    if (position <= last) find_chunk(task, position, first, last, &next);
    take_chunk<Keys, Values>(task, scratch, chunks[now],
                             position <= last ? &next : nullptr);
  }
  for (int r = 0; r < task.rows; ++r) {
    for (int h = 0; h < task.group; ++h) {
      float* y = task.y + r * task.y_stride + h * task.v;
      scale_row(y, task.v, 1.0f / scratch.states[2 * (r * task.group + h) + 1],
                y);
    }
  }
}

template <class Keys>
AttentionFunction with_keys(rc_dtype values) {
  switch (values) {
    case RC_DTYPE_F32:
      return attention<Keys, CacheF32>;
    case RC_DTYPE_F16:
      return attention<Keys, CacheF16>;
    case RC_DTYPE_Q8_0:
      return attention<Keys, CacheQ8_0>;
    default:
      return nullptr;
  }
}

}  // namespace

AttentionFunction attention_function(rc_dtype keys, rc_dtype values) {
  switch (keys) {
    case RC_DTYPE_F32:
      return with_keys<CacheF32>(values);
    case RC_DTYPE_F16:
      return with_keys<CacheF16>(values);
    case RC_DTYPE_Q8_0:
      return with_keys<CacheQ8_0>(values);
    default:
      return nullptr;
  }
}

}  // namespace rc::cpu::RC_CPU_LEVEL
