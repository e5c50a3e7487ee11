// Attention of some rows over the pages of their sequence in one pass, with a
// running maximum and sum (Milakov and Gimelshein 2018, arXiv:1805.02867).
// Positions are taken in order, in chunks that begin at multiples of
// kAttentionChunk within a page, whatever the rows are: what a row gets does
// not depend on which rows are with it.
#include "cpu/kernels/attention_tiles.h"
#include "cpu/kernels/levels.h"

namespace rc::cpu::RC_CPU_LEVEL {
namespace {

// Scores of one head with positions `begin` to `end` - 1, as they are in the
// cache.
template <class Keys>
RC_PER_CHUNK void score_alone(const AttentionTask& task, const float* q,
                              const uint8_t* keys, int begin, int end,
                              float* scores) {
  for (int t = begin; t < end; ++t) {
    Vf total = splat(0);
    for (int64_t i = 0; i < task.d; i += kLanes) {
      total = fma(load_some(q + i, task.d - i),
                  Keys::read(keys + t * task.key_bytes, i, task.d - i), total);
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

template <class Values>
RC_PER_CHUNK void accumulate_alone(const AttentionTask& task,
                                   const uint8_t* values, int begin, int end,
                                   const float* weights, float keep, float* y) {
  for (int64_t i = 0; i < task.d; i += kLanes) {
    Vf total = mul(load_some(y + i, task.d - i), splat(keep));
    for (int t = begin; t < end; ++t) {
      total = fma(Values::read(values + t * task.value_bytes, i, task.d - i),
                  splat(weights[t]), total);
    }
    store_some(y + i, total, task.d - i);
  }
}

// All rows with the chunk of `count` positions from `position` on.
template <class Keys, class Values>
RC_SIMD void take_chunk(const AttentionTask& task, const Scratch& scratch,
                        const uint8_t* keys, const uint8_t* values,
                        int64_t position, int64_t count) {
  // For fewer heads turning the keys takes longer than sums across lanes. A
  // model has one number of heads: its results stay the same whatever the rows.
  const bool by_tiles = task.group >= kAttentionHeads;
  if (by_tiles) {
    load_keys<Keys>(task, keys, (int)count, scratch.keys);
    load_values<Values>(task, values, (int)count, scratch.d16, scratch.values);
  }
  for (int r = 0; r < task.rows; ++r) {
    const int64_t last = task.last[r] - position;
    const int64_t first = task.first[r] - position;
    const int begin = first > 0 ? (int)first : 0;
    const int end = last + 1 < count ? (int)(last + 1) : (int)count;
    if (begin >= end) continue;
    const float* q = task.q + r * task.row_stride;
    float* y = task.y + r * task.row_stride;
    float* states = scratch.states + 2 * r * task.group;
    int h = 0;
    if (by_tiles) {
      for (; h + kTileHeads <= task.group; h += kTileHeads) {
        some_heads<kTileHeads>(task, scratch, begin, end, q + h * task.d,
                               states + 2 * h, y + h * task.d);
      }
      for (; h < task.group; ++h) {
        some_heads<1>(task, scratch, begin, end, q + h * task.d, states + 2 * h,
                      y + h * task.d);
      }
    }
    for (; h < task.group; ++h) {
      score_alone<Keys>(task, q + h * task.d, keys, begin, end, scratch.scores);
      const float keep = weigh(begin, end, scratch.scores, states + 2 * h);
      accumulate_alone<Values>(task, values, begin, end, scratch.scores, keep,
                               y + h * task.d);
    }
  }
}

template <class Keys, class Values>
void attention(const AttentionTask& task) {
  const Scratch scratch(task);
  int64_t position = task.first[0];
  int64_t last = task.last[0];
  for (int r = 0; r < task.rows; ++r) {
    if (task.first[r] < position) position = task.first[r];
    if (task.last[r] > last) last = task.last[r];
    for (int h = 0; h < task.group; ++h) {
      float* state = scratch.states + 2 * (r * task.group + h);
      state[0] = -__builtin_inff();
      state[1] = 0;
    }
    float* y = task.y + r * task.row_stride;
    for (int64_t i = 0; i < task.group * task.d; ++i) y[i] = 0;
  }

  while (position <= last) {
    const int64_t page = task.pages[position / task.page_size];
    const int64_t slot =
        position % task.page_size / kAttentionChunk * kAttentionChunk;
    position -= position % task.page_size - slot;
    int64_t count = kAttentionChunk;
    if (count > task.page_size - slot) count = task.page_size - slot;
    if (count > last - position + 1) count = last - position + 1;
    take_chunk<Keys, Values>(
        task, scratch,
        task.keys + page * task.key_page_bytes + slot * task.key_bytes,
        task.values + page * task.value_page_bytes + slot * task.value_bytes,
        position, count);
    position += count;
  }
  for (int r = 0; r < task.rows; ++r) {
    for (int h = 0; h < task.group; ++h) {
      float* y = task.y + r * task.row_stride + h * task.d;
      scale_row(y, task.d, 1.0f / scratch.states[2 * (r * task.group + h) + 1],
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
