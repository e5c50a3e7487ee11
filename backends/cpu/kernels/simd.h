// Vectors of 16 lanes, one per row of a tile, made of as many registers as the
// level needs. RC_CPU_LEVEL names the level and the namespace of its kernels.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "cpu/kernels.h"

#define RC_SIMD static inline __attribute__((always_inline))
#define RC_SIMD_MEMBER inline __attribute__((always_inline))

// Each gives, for one register, the operations that the vectors below are made
// of. u bytes of "wide" formats use all eight bits, those of the others at
// most six; dot8 adds, in each 32-bit lane, the products of four bytes of u0
// and of u1 with four columns of activations each, and dot2 those of two
// columns of 16-bit quants, of which b_pairs makes a register. f_load_fours
// loads four floats from each of p, p + step, p + 2 step, ... bytes;
// f_transpose turns the 4 x 4 floats round that four registers have in each of
// their 128-bit parts. In each such part b_zip_low and b_zip_high alternate
// 16-bit units of the lower or upper half of a with those of b; b_store_parts
// stores the first part of a and then of b at p, the second ones at p + step,
// ...
#if defined(__AVX512BW__)
#include "cpu/kernels/simd_avx512.h"
#elif defined(__AVX2__)
#include "cpu/kernels/simd_avx2.h"
#elif defined(__x86_64__)
#include "cpu/kernels/simd_sse2.h"
#elif defined(__aarch64__)
#include "cpu/kernels/simd_neon.h"
#elif defined(__wasm_simd128__)
#include "cpu/kernels/simd_wasm.h"
#else
#error "the cpu backend knows x86-64, aarch64 and WebAssembly with SIMD128"
#endif

#define RC_PARTS(i) _Pragma("GCC unroll 4") for (int i = 0; i < kParts; ++i)

namespace rc::cpu::RC_CPU_LEVEL {

constexpr int kLanes = 16;
constexpr int kPartLanes = kLanes / kParts;
constexpr int kPartBytes = 64 / kParts;

struct Vf {  // 16 floats
  F p[kParts];
};
struct Vi {  // 16 integers of 32 bits
  I p[kParts];
};
struct Vb {  // 64 bytes: four columns of each of 16 rows
  B p[kParts];
};

#define RC_UNARY(name, V, R, part)     \
  RC_SIMD R name(const V& a) {         \
    R y;                               \
    RC_PARTS(i) y.p[i] = part(a.p[i]); \
    return y;                          \
  }
#define RC_BINARY(name, V, part)               \
  RC_SIMD V name(const V& a, const V& b) {     \
    V y;                                       \
    RC_PARTS(i) y.p[i] = part(a.p[i], b.p[i]); \
    return y;                                  \
  }

RC_BINARY(add, Vf, f_add)
RC_BINARY(sub, Vf, f_sub)
RC_BINARY(mul, Vf, f_mul)
RC_BINARY(div, Vf, f_div)
RC_BINARY(largest, Vf, f_max)
RC_BINARY(smallest, Vf, f_min)
RC_BINARY(add, Vi, i_add)
RC_BINARY(sub, Vi, i_sub)
RC_BINARY(largest_s16, Vi, i_max_s16)  // of pairs of 16 bits
RC_BINARY(bits_and, Vi, i_and)
RC_BINARY(bits_or, Vi, i_or)
RC_BINARY(bits_or, Vb, b_or)
RC_UNARY(root, Vf, Vf, f_sqrt)
RC_UNARY(rounded, Vf, Vi, f_round)
RC_UNARY(to_float, Vi, Vf, f_from)
RC_UNARY(as_float, Vi, Vf, f_cast)
RC_UNARY(as_int, Vf, Vi, i_cast)

// a * b + c, fused where the level can.
RC_SIMD Vf fma(const Vf& a, const Vf& b, const Vf& c) {
  Vf y;
  RC_PARTS(i) y.p[i] = f_fma(a.p[i], b.p[i], c.p[i]);
  return y;
}
// c - a * b.
RC_SIMD Vf fnma(const Vf& a, const Vf& b, const Vf& c) {
  Vf y;
  RC_PARTS(i) y.p[i] = f_fnma(a.p[i], b.p[i], c.p[i]);
  return y;
}
// a < b ? x : y in each lane.
RC_SIMD Vf if_less(const Vf& a, const Vf& b, const Vf& x, const Vf& y) {
  Vf z;
  RC_PARTS(i) z.p[i] = f_less(a.p[i], b.p[i], x.p[i], y.p[i]);
  return z;
}

// a == b ? x : y in each lane.
RC_SIMD Vf if_equal(const Vf& a, const Vf& b, const Vf& x, const Vf& y) {
  Vf z;
  RC_PARTS(i) z.p[i] = f_equal(a.p[i], b.p[i], x.p[i], y.p[i]);
  return z;
}

// Part i of four columns of 32 bits of 16 rows that are `step` bytes apart.
RC_SIMD void load_fours(const uint8_t* rows, int64_t step, int i, F (&x)[4]) {
#pragma GCC unroll 4
  for (int k = 0; k < 4; ++k) {
    x[k] = f_load_fours(rows + (i * kPartLanes + k) * step, 4 * step);
  }
  f_transpose(x);
}

RC_SIMD Vf splat(float x) {
  Vf y;
  RC_PARTS(i) y.p[i] = f_set(x);
  return y;
}
RC_SIMD Vi splat_int(int32_t x) {
  Vi y;
  RC_PARTS(i) y.p[i] = i_set(x);
  return y;
}
RC_SIMD Vf load(const float* p) {
  Vf y;
  RC_PARTS(i) y.p[i] = f_load(p + i * kPartLanes);
  return y;
}
RC_SIMD void store(float* p, const Vf& x) {
  RC_PARTS(i) f_store(p + i * kPartLanes, x.p[i]);
}
// Four columns of 16 rows of floats that are `step` apart.
RC_SIMD void load_columns(const float* rows, int64_t step, Vf (&columns)[4]) {
  RC_PARTS(i) {
    F x[4];
    load_fours((const uint8_t*)rows, step * (int64_t)sizeof(float), i, x);
#pragma GCC unroll 4
    for (int k = 0; k < 4; ++k) columns[k].p[i] = x[k];
  }
}
// The same of rows of bytes: byte 4 r + c of columns[k] is byte 4 k + c of row
// r.
RC_SIMD void load_columns(const uint8_t* rows, int64_t step, Vb (&columns)[4]) {
  RC_PARTS(i) {
    F x[4];
    load_fours(rows, step, i, x);
#pragma GCC unroll 4
    for (int k = 0; k < 4; ++k) columns[k].p[i] = b_cast(x[k]);
  }
}
// The first n of 16 floats; the others are `rest`.
RC_SIMD Vf load_some(const float* p, int64_t n, float rest = 0) {
  if (n >= kLanes) return load(p);
  float buffer[kLanes];
  for (int i = 0; i < kLanes; ++i) buffer[i] = i < n ? p[i] : rest;
  return load(buffer);
}
RC_SIMD void store_some(float* p, const Vf& x, int64_t n) {
  if (n >= kLanes) return store(p, x);
  float buffer[kLanes];
  store(buffer, x);
  for (int i = 0; i < n; ++i) p[i] = buffer[i];
}
RC_SIMD Vf load_f16(const void* p) {
  Vf y;
  RC_PARTS(i) y.p[i] = f_from_f16((const uint16_t*)p + i * kPartLanes);
  return y;
}
// Where kConvertsHalves is true.
template <class V>
RC_SIMD void store_f16(uint16_t* p, const V& x) {
  RC_PARTS(i) f_to_f16(p + i * kPartLanes, x.p[i]);
}
RC_SIMD Vf load_bf16(const void* p) {
  Vf y;
  RC_PARTS(i) {
    y.p[i] = f_cast(i_shl<16>(i_from_u16((const uint16_t*)p + i * kPartLanes)));
  }
  return y;
}
RC_SIMD Vi load_u16(const uint16_t* p) {
  Vi y;
  RC_PARTS(i) y.p[i] = i_from_u16(p + i * kPartLanes);
  return y;
}
RC_SIMD Vi load_u8(const uint8_t* p) {
  Vi y;
  RC_PARTS(i) y.p[i] = i_from_u8(p + i * kPartLanes);
  return y;
}
RC_SIMD Vi load_s8(const int8_t* p) {
  Vi y;
  RC_PARTS(i) y.p[i] = i_from_s8(p + i * kPartLanes);
  return y;
}
RC_SIMD void store_s8(int8_t* p, const Vi& x) { i_store_s8(p, x.p); }
RC_SIMD void store_s16(int16_t* p, const Vi& x) { i_store_s16(p, x.p); }

template <int n>
RC_SIMD Vi shl(const Vi& x) {
  Vi y;
  RC_PARTS(i) y.p[i] = i_shl<n>(x.p[i]);
  return y;
}
RC_SIMD Vi shr(const Vi& x, int n) {
  Vi y;
  RC_PARTS(i) y.p[i] = i_shr(x.p[i], n);
  return y;
}

// Always in the same order: the registers first, then within one.
RC_SIMD float sum(const Vf& x) {
  if constexpr (kParts == 1) {
    return f_sum(x.p[0]);
  } else if constexpr (kParts == 2) {
    return f_sum(f_add(x.p[0], x.p[1]));
  } else {
    return f_sum(f_add(f_add(x.p[0], x.p[1]), f_add(x.p[2], x.p[3])));
  }
}
// Lane k is sum(x[k]). Where a vector is one register.
template <class V>
RC_SIMD V sums(const V (&x)[kLanes]) {
  __typeof__(V{}.p[0]) parts[kLanes];
#pragma GCC unroll 16
  for (int k = 0; k < kLanes; ++k) parts[k] = x[k].p[0];
  return {{f_sums(parts)}};
}
// The same as of longer registers.
template <class Join>
RC_SIMD F f_joined(const F (&x)[4], Join join) {
  F columns[4] = {x[0], x[1], x[2], x[3]};
  f_transpose(columns);
  return join(join(columns[0], columns[1]), join(columns[2], columns[3]));
}
// Lane k is what `join` makes of all lanes of x[k], in any order.
template <class Join>
RC_SIMD Vi joined(const Vi (&x)[kLanes], Join join) {
  const auto joined_parts = [&](F a, F b) __attribute__((always_inline)) {
    return f_cast(join(i_cast(a), i_cast(b)));
  };
  Vi y;
  RC_PARTS(i) {
    F parts[kPartLanes];
#pragma GCC unroll 16
    for (int k = 0; k < kPartLanes; ++k) {
      I part = x[i * kPartLanes + k].p[0];
#pragma GCC unroll 4
      for (int p = 1; p < kParts; ++p) {
        part = join(part, x[i * kPartLanes + k].p[p]);
      }
      parts[k] = f_cast(part);
    }
    y.p[i] = i_cast(f_joined(parts, joined_parts));
  }
  return y;
}
RC_SIMD float largest_lane(const Vf& x) {
  F y = x.p[0];
  for (int i = 1; i < kParts; ++i) y = f_max(y, x.p[i]);
  return f_largest(y);
}
RC_SIMD int32_t sum(const Vi& x) {
  I y = x.p[0];
  for (int i = 1; i < kParts; ++i) y = i_add(y, x.p[i]);
  return i_sum(y);
}

RC_SIMD Vb load_bytes(const uint8_t* p) {
  Vb y;
  RC_PARTS(i) y.p[i] = b_load(p + i * kPartBytes);
  return y;
}
RC_SIMD void store_bytes(uint8_t* p, const Vb& x) {
  RC_PARTS(i) b_store(p + i * kPartBytes, x.p[i]);
}
// Shifts move 16-bit units on some levels, hence always with a mask.
template <int n>
RC_SIMD Vb shr_mask(const Vb& x, int mask) {
  Vb y;
  RC_PARTS(i) {
    if constexpr (n >= 0) {
      y.p[i] = b_mask(b_shr<n>(x.p[i]), mask);
    } else {
      y.p[i] = b_mask(b_shl<-n>(x.p[i]), mask);
    }
  }
  return y;
}
// Each byte less 128, which is the same as 128 more.
RC_SIMD Vb flip(const Vb& x) {
  Vb y;
  RC_PARTS(i) y.p[i] = b_flip(x.p[i]);
  return y;
}
// The first bytes of all rows, then the second, the third and the fourth.
RC_SIMD void store_planes(uint8_t* p, const Vb& x) { b_store_bytes(p, x.p); }
// The first halves of all rows, 16 bits each, then the second ones.
RC_SIMD void store_planes16(uint8_t* p, const Vb& x) { b_store_words(p, x.p); }
// `byte` for the four columns of each lane whose bit of `lanes` is set, 0 for
// those of the others.
RC_SIMD Vb lane_bytes(uint32_t lanes, int byte) {
  Vb y;
  RC_PARTS(i) y.p[i] = b_lanes(lanes >> (i * kPartLanes), byte);
  return y;
}
// table[index] of each byte; indices are below 16.
RC_SIMD Vb lookup(const Vb& index, const uint8_t* table) {
  Vb y;
  RC_PARTS(i) y.p[i] = b_lookup(index.p[i], table);
  return y;
}

template <bool wide>
RC_SIMD Vi dot8(const Vi& sum, const Vb& u0, const Vb& u1, const Columns& a) {
  Vi y;
  RC_PARTS(i) y.p[i] = dot8<wide>(sum.p[i], u0.p[i], u1.p[i], a);
  return y;
}

// Two columns of 16-bit quants, given as integers, as dot2 takes them.
RC_SIMD Vb pairs(const Vi& a, const Vi& b) {
  Vb y;
  RC_PARTS(i) y.p[i] = b_pairs(a.p[i], b.p[i]);
  return y;
}
RC_SIMD Vi dot2(const Vi& sum, const Vb& w, const Columns2& a) {
  Vi y;
  RC_PARTS(i) y.p[i] = dot2(sum.p[i], w.p[i], a);
  return y;
}
// The same of two columns of activations in each lane.
RC_SIMD Vi dot2(const Vi& sum, const Vb& w, const Vb& a) {
  Vi y;
  RC_PARTS(i) y.p[i] = dot2(sum.p[i], w.p[i], a.p[i]);
  return y;
}

// To the second-level cache: the first has too few lines under way at a time.
RC_SIMD void prefetch_later(const void* p) { __builtin_prefetch(p, 0, 2); }

}  // namespace rc::cpu::RC_CPU_LEVEL
