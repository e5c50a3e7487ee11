// CONVERT from F32: a work-item encodes a block, or elements of a plain type, as
// src/tensor/encode.cc does. LANES is 1.
//
// Defined by the host: TYPE_<name of the type>; UNIT, the bytes of an element or
// block of it.

#include "common.cl"
#include "tensor.cl"

typedef global uchar* Target;

#if defined(TYPE_F32)
#define PLAIN
INLINE void put(Target out, ulong i, float x) { ((global float*)out)[i] = x; }

#elif defined(TYPE_F16)
#define PLAIN
INLINE void put(Target out, ulong i, float x) {
  vstore_half_rte(x, i, (global half*)out);
}

#elif defined(TYPE_BF16)
#define PLAIN
INLINE void put(Target out, ulong i, float x) {
  const uint bits = as_uint(x);
  const uint rounded = (bits + 0x7FFF + ((bits >> 16) & 1)) >> 16;
  ((global ushort*)out)[i] = isnan(x) ? (bits >> 16) | 0x40 : rounded;
}

#elif defined(TYPE_F64)
#define PLAIN
INLINE void put(Target out, ulong i, float x) { ((global double*)out)[i] = x; }

#elif defined(TYPE_I8) || defined(TYPE_I16) || defined(TYPE_I32) || \
    defined(TYPE_I64)
#define PLAIN
#if defined(TYPE_I8)
typedef char Integer;
#define LOWEST CHAR_MIN
#define HIGHEST CHAR_MAX
#elif defined(TYPE_I16)
typedef short Integer;
#define LOWEST SHRT_MIN
#define HIGHEST SHRT_MAX
#elif defined(TYPE_I32)
typedef int Integer;
#define LOWEST INT_MIN
#define HIGHEST INT_MAX
#else
typedef long Integer;
#define LOWEST LONG_MIN
#define HIGHEST LONG_MAX
#endif
// Beyond the limits, the limits; the upper one may round up to a power of two
// as a float.
INLINE void put(Target out, ulong i, float x) {
  const bool inside = x > (float)LOWEST && x < (float)HIGHEST;
  const Integer whole = inside ? (Integer)rint(x) : 0;
  const Integer beyond = isnan(x) ? 0 : x < 0.0f ? LOWEST : HIGHEST;
  ((global Integer*)out)[i] = inside ? whole : beyond;
}

#else  // blocks

// Replaces numbers that a block can't hold.
INLINE float finite(float x) {
  return isnan(x) ? 0.0f : clamp(x, -FLT_MAX / 4, FLT_MAX / 4);
}

// The scale as it is stored.
INLINE float put_scale(Target to, float scale) {
  vstore_half_rte(clamp(scale, -65504.0f, 65504.0f), 0, (global half*)to);
  return vload_half(0, (const global half*)to);
}

// x / step, rounded, within low..high. A step of 0 means that all is 0.
INLINE int quantize(float x, float step, int low, int high) {
  const float q = step == 0.0f ? 0.0f : x / step;
  return convert_int(rint(clamp(q, (float)low, (float)high)));
}

// The element of largest magnitude, with its sign.
INLINE float extreme(const global float* x, int count) {
  float result = 0.0f;
  for (int i = 0; i < count; ++i) {
    const float value = finite(x[i]);
    if (fabs(value) > fabs(result)) result = value;
  }
  return result;
}

typedef struct {
  float low, high;
} Limits;

INLINE Limits limits(const global float* x, int count) {
  Limits found = {finite(x[0]), finite(x[0])};
  for (int i = 1; i < count; ++i) {
    found.low = fmin(found.low, finite(x[i]));
    found.high = fmax(found.high, finite(x[i]));
  }
  return found;
}

#if defined(TYPE_Q4_0) || defined(TYPE_Q5_0) || defined(TYPE_Q4_1) || \
    defined(TYPE_Q5_1)
#define BLOCK 32
#if defined(TYPE_Q5_0) || defined(TYPE_Q5_1)
#define LEVELS 32
#define FIFTH_BYTES 4
#else
#define LEVELS 16
#define FIFTH_BYTES 0
#endif
#if defined(TYPE_Q4_0) || defined(TYPE_Q5_0)
#define HEAD_BYTES 2
#else
#define HEAD_BYTES 4
#endif
INLINE void encode_block(const global float* x, Target to) {
#if HEAD_BYTES == 2
  const float scale = put_scale(to, extreme(x, 32) / -(LEVELS / 2));
#define QUANT(i) \
  (quantize(finite(x[i]), scale, -LEVELS / 2, LEVELS / 2 - 1) + LEVELS / 2)
#else
  const Limits ends = limits(x, 32);
  const float scale = put_scale(to, (ends.high - ends.low) / (LEVELS - 1));
  const float minimum = put_scale(to + 2, ends.low);
#define QUANT(i) quantize(finite(x[i]) - minimum, scale, 0, LEVELS - 1)
#endif
  uint fifth = 0;
  for (int j = 0; j < 16; ++j) {
    const int first = QUANT(j);
    const int second = QUANT(j + 16);
    to[HEAD_BYTES + FIFTH_BYTES + j] = (first & 15) | ((second & 15) << 4);
    fifth |= (uint)(first >> 4) << j | (uint)(second >> 4) << (j + 16);
  }
  for (int i = 0; i < FIFTH_BYTES; ++i) to[HEAD_BYTES + i] = fifth >> (8 * i);
}

#elif defined(TYPE_Q8_0)
#define BLOCK 32
INLINE void encode_block(const global float* x, Target to) {
  const float scale = put_scale(to, fabs(extreme(x, 32)) / 127.0f);
  for (int j = 0; j < 32; ++j) {
    to[2 + j] = quantize(finite(x[j]), scale, -127, 127);
  }
}

#elif defined(TYPE_IQ4_NL)
#define BLOCK 32
constant float kValues[16] = {-127, -104, -83, -65, -49, -35, -22, -10,
                              1,    13,   25,  38,  53,  69,  89,  113};
INLINE int nearest(float q) {
  int best = 0;
  for (int i = 1; i < 16; ++i) {
    if (fabs(q - kValues[i]) < fabs(q - kValues[best])) best = i;
  }
  return best;
}
INLINE void encode_block(const global float* x, Target to) {
  const float scale = put_scale(to, extreme(x, 32) / kValues[0]);
  const float inverse = scale == 0.0f ? 0.0f : 1.0f / scale;
  for (int j = 0; j < 16; ++j) {
    to[2 + j] = nearest(finite(x[j]) * inverse) |
                (nearest(finite(x[j + 16]) * inverse) << 4);
  }
}

#elif defined(TYPE_Q4_K) || defined(TYPE_Q5_K)
#define BLOCK 256
#ifdef TYPE_Q4_K
#define QUANTS_AT 16
#define LEVELS 15
#else
#define QUANTS_AT 48
#define LEVELS 31
#endif
INLINE void encode_block(const global float* x, Target to) {
  float steps[8], offsets[8];
  float largest_step = 0.0f, largest_offset = 0.0f;
  for (int group = 0; group < 8; ++group) {
    const Limits ends = limits(x + 32 * group, 32);
    // The minimum is subtracted and can't be negative.
    offsets[group] = fmax(0.0f, -ends.low);
    steps[group] =
        (fmax(ends.high, -offsets[group]) + offsets[group]) / (float)LEVELS;
    largest_step = fmax(largest_step, steps[group]);
    largest_offset = fmax(largest_offset, offsets[group]);
  }
  const float scale = put_scale(to, largest_step / 63.0f);
  const float min_scale = put_scale(to + 2, largest_offset / 63.0f);
  uchar bits[12];
  for (int i = 0; i < 12; ++i) bits[i] = 0;
  for (int group = 0; group < 8; ++group) {
    const int step = quantize(steps[group], scale, 0, 63);
    const int offset = quantize(offsets[group], min_scale, 0, 63);
    // See k_scale_min in src/tensor/blocks.h.
    if (group < 4) {
      bits[group] |= step;
      bits[group + 4] |= offset;
    } else {
      bits[group + 4] |= (step & 15) | ((offset & 15) << 4);
      bits[group - 4] |= (step >> 4) << 6;
      bits[group] |= (offset >> 4) << 6;
    }
    steps[group] = scale * (float)step;
    offsets[group] = min_scale * (float)offset;
  }
  for (int i = 0; i < 12; ++i) to[4 + i] = bits[i];
  for (int l = 0; l < 32; ++l) {
    int fifths = 0;
    for (int group = 0; group < 8; group += 2) {
      const int first =
          quantize(finite(x[32 * group + l]) + offsets[group], steps[group], 0,
                   LEVELS);
      const int second =
          quantize(finite(x[32 * group + 32 + l]) + offsets[group + 1],
                   steps[group + 1], 0, LEVELS);
      to[QUANTS_AT + 16 * group + l] = (first & 15) | ((second & 15) << 4);
      fifths |= ((first >> 4) | (second >> 4 << 1)) << group;
    }
#ifdef TYPE_Q5_K
    to[16 + l] = fifths;
#endif
  }
}

#elif defined(TYPE_Q6_K)
#define BLOCK 256
INLINE void encode_block(const global float* x, Target to) {
  float steps[16];
  float largest = 0.0f;
  for (int group = 0; group < 16; ++group) {
    steps[group] = extreme(x + 16 * group, 16) / -32.0f;
    largest = fmax(largest, fabs(steps[group]));
  }
  const float scale = put_scale(to + 208, largest / 127.0f);
  for (int group = 0; group < 16; ++group) {
    const int step = quantize(steps[group], scale, -127, 127);
    to[192 + group] = step;
    steps[group] = scale * (float)step;
  }
  // Byte b of each run of 32; see place_of_group in src/tensor/blocks.h.
  for (int half_block = 0; half_block < 2; ++half_block) {
    for (int b = 0; b < 32; ++b) {
      int q[4];
      for (int run = 0; run < 4; ++run) {
        q[run] = quantize(finite(x[128 * half_block + 32 * run + b]),
                          steps[8 * half_block + 2 * run + b / 16], -32, 31) +
                 32;
      }
      Target low = to + 64 * half_block + b;
      low[0] = (q[0] & 15) | ((q[2] & 15) << 4);
      low[32] = (q[1] & 15) | ((q[3] & 15) << 4);
      to[128 + 32 * half_block + b] = (q[0] >> 4) | (q[1] >> 4 << 2) |
                                      (q[2] >> 4 << 4) | (q[3] >> 4 << 6);
    }
  }
}

#elif defined(TYPE_TQ2_0)
#define BLOCK 256
INLINE void encode_block(const global float* x, Target to) {
  const float scale = put_scale(to + 64, fabs(extreme(x, 256)));
  // Two bits of each of four runs of 32.
  for (int b = 0; b < 64; ++b) {
    const global float* first = x + b / 32 * 128 + b % 32;
    int bits = 0;
    for (int run = 0; run < 4; ++run) {
      bits |= (quantize(finite(first[32 * run]), scale, -1, 1) + 1)
              << (2 * run);
    }
    to[b] = bits;
  }
}
#endif
#endif

#ifdef PLAIN
// The number of groups that share a word.
#if UNIT < 4
#define OF_WORD (4 / UNIT)
#else
#define OF_WORD 1
#endif
#endif

// y_base is in bytes.
#define BUFFERS(INPUT, OUTPUT) \
  COUNTS(INPUT) INPUT(float, x) OUTPUT(uchar, y)
#define PARAMETERS(P) \
  GROUP_PARAMETERS(P) P(uint, x_base) P(uint, y_base) P(uint, count)
KERNEL(encode) {
  OPEN
  const uint group = GROUP_NUMBER;
  if (NOTHING_TO_DO(group)) return;
  x += x_base;
  y += y_base;
#ifdef PLAIN
  const uint before = y_base / UNIT % OF_WORD;
  const uint size = GROUP_ITEMS * EACH * OF_WORD;
  const uint begin = group == 0 ? 0 : group * size - before;
  const uint end = min((group + 1) * size - before, count);
  for (uint i = begin + get_local_id(0); i < end; i += GROUP_ITEMS) {
    put(y, i, x[i]);
  }
#else
  const uint block = group * GROUP_ITEMS + get_local_id(0);
  if (block >= count / BLOCK) return;
  encode_block(x + (ulong)block * BLOCK, y + (ulong)block * UNIT);
#endif
}
