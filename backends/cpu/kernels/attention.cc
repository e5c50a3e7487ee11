// Attention of one row over the pages of its sequence in one pass, with a
// running maximum and sum (Milakov and Gimelshein 2018, arXiv:1805.02867). The
// query heads of a key/value head go together, so that keys and values are
// read once. Positions are taken in order, in chunks that begin at multiples
// of kAttentionChunk within a page, whatever the other rows are.
#include "cpu/kernels/levels.h"
#include "cpu/kernels/math.h"

namespace rc::cpu::RC_CPU_LEVEL {
namespace {

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
#define RC_PER_CHUNK __attribute__((noinline))

// scores[t] of `heads` queries with `count` positions.
template <class Keys, int heads>
RC_PER_CHUNK void score(const AttentionTask& task, const float* q,
                        const uint8_t* keys, int count, float* scores) {
  for (int t = 0; t < count; ++t) {
    const uint8_t* key = keys + t * task.key_bytes;
    Vf total[heads];
#pragma GCC unroll 4
    for (int h = 0; h < heads; ++h) total[h] = splat(0);
    for (int64_t i = 0; i < task.d; i += kLanes) {
      const Vf k = Keys::read(key, i, task.d - i);
#pragma GCC unroll 4
      for (int h = 0; h < heads; ++h) {
        total[h] = fma(load_some(q + h * task.d + i, task.d - i), k, total[h]);
      }
    }
#pragma GCC unroll 4
    for (int h = 0; h < heads; ++h) {
      scores[h * kAttentionChunk + t] = sum(total[h]) * task.scale;
    }
  }
}

// y = y * keep + sum over positions of weights * values, for `heads` heads.
template <class Values, int heads>
RC_SIMD void accumulate(const AttentionTask& task, const uint8_t* values,
                        int count, const float* weights, const float* keep,
                        float* y) {
  for (int64_t i = 0; i < task.d; i += kLanes) {
    Vf total[heads];
#pragma GCC unroll 4
    for (int h = 0; h < heads; ++h) {
      total[h] = mul(load_some(y + h * task.d + i, task.d - i), splat(keep[h]));
    }
    for (int t = 0; t < count; ++t) {
      const Vf v = Values::read(values + t * task.value_bytes, i, task.d - i);
#pragma GCC unroll 4
      for (int h = 0; h < heads; ++h) {
        total[h] = fma(v, splat(weights[h * kAttentionChunk + t]), total[h]);
      }
    }
#pragma GCC unroll 4
    for (int h = 0; h < heads; ++h) {
      store_some(y + h * task.d + i, total[h], task.d - i);
    }
  }
}

// Turns the scores of one head into weights; `state` is its running maximum
// and sum. The result is the factor for what was summed before.
RC_PER_CHUNK float weigh(const AttentionTask& task, int count, float* scores,
                         float* state) {
  const float infinity = __builtin_inff();
  Vf most = splat(state[0]);
  for (int t = 0; t < count; t += kLanes) {
    Vf s = load_some(scores + t, count - t, -infinity);
    if (task.softcap > 0) {
      const Vf cap = splat(task.softcap);
      s = mul(cap, tanh(div(s, cap)));
      store_some(scores + t, s, count - t);
    }
    most = largest(most, s);
  }
  const float maximum = largest_lane(most);
  Vf total = splat(0);
  for (int t = 0; t < count; t += kLanes) {
    const Vf e =
        exp(sub(load_some(scores + t, count - t, -infinity), splat(maximum)));
    store_some(scores + t, e, count - t);
    total = add(total, e);
  }
  float keep[kLanes];
  store(keep, exp(splat(state[0] - maximum)));
  state[0] = maximum;
  state[1] = state[1] * keep[0] + sum(total);
  return keep[0];
}

template <class Keys, class Values>
void attention(const AttentionTask& task) {
  float* scores = task.scratch;
  float* states = scores + task.group * kAttentionChunk;
  for (int h = 0; h < task.group; ++h) {
    states[2 * h] = -__builtin_inff();
    states[2 * h + 1] = 0;
  }
  for (int64_t i = 0; i < task.group * task.d; ++i) task.y[i] = 0;

  for (int64_t position = task.first; position <= task.last;) {
    const int64_t slot = position % task.page_size;
    const int64_t page = task.pages[position / task.page_size];
    int64_t count = kAttentionChunk - slot % kAttentionChunk;
    if (count > task.page_size - slot) count = task.page_size - slot;
    if (count > task.last - position + 1) count = task.last - position + 1;
    const uint8_t* keys =
        task.keys + page * task.key_page_bytes + slot * task.key_bytes;
    const uint8_t* values =
        task.values + page * task.value_page_bytes + slot * task.value_bytes;

    int h = 0;
    for (; h + 4 <= task.group; h += 4) {
      float* s = scores + h * kAttentionChunk;
      score<Keys, 4>(task, task.q + h * task.d, keys, (int)count, s);
      float keep[4];
      for (int i = 0; i < 4; ++i) {
        keep[i] = weigh(task, (int)count, s + i * kAttentionChunk,
                        states + 2 * (h + i));
      }
      accumulate<Values, 4>(task, values, (int)count, s, keep,
                            task.y + h * task.d);
    }
    for (; h < task.group; ++h) {
      float* s = scores + h * kAttentionChunk;
      score<Keys, 1>(task, task.q + h * task.d, keys, (int)count, s);
      const float keep = weigh(task, (int)count, s, states + 2 * h);
      accumulate<Values, 1>(task, values, (int)count, s, &keep,
                            task.y + h * task.d);
    }
    position += count;
  }
  for (int h = 0; h < task.group; ++h) {
    scale_row(task.y + h * task.d, task.d, 1.0f / states[2 * h + 1],
              task.y + h * task.d);
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
