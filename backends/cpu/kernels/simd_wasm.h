// SIMD128 of WebAssembly. It fuses no multiplication with an addition and
// converts no binary16, so what it computes has the bits of the baseline of
// x86-64: sums within a register are added in the same order.
#pragma once

#include <wasm_simd128.h>

namespace rc::cpu::RC_CPU_LEVEL {

constexpr int kParts = 4;
constexpr bool kConvertsHalves = false;  // f_from_f16 is many instructions
constexpr bool kLeavesOut = false;
constexpr int kWideOffset = 128;
using F = v128_t;
using I = v128_t;
using B = v128_t;

RC_SIMD F f_set(float x) { return wasm_f32x4_splat(x); }
RC_SIMD F f_load(const float* p) { return wasm_v128_load(p); }
RC_SIMD void f_store(float* p, F x) { wasm_v128_store(p, x); }
RC_SIMD F f_load_fours(const uint8_t* p, int64_t) { return wasm_v128_load(p); }
RC_SIMD void f_transpose(F (&x)[4]) {
  const v128_t a = wasm_i32x4_shuffle(x[0], x[1], 0, 4, 1, 5);
  const v128_t b = wasm_i32x4_shuffle(x[0], x[1], 2, 6, 3, 7);
  const v128_t c = wasm_i32x4_shuffle(x[2], x[3], 0, 4, 1, 5);
  const v128_t d = wasm_i32x4_shuffle(x[2], x[3], 2, 6, 3, 7);
  x[0] = wasm_i64x2_shuffle(a, c, 0, 2);
  x[1] = wasm_i64x2_shuffle(a, c, 1, 3);
  x[2] = wasm_i64x2_shuffle(b, d, 0, 2);
  x[3] = wasm_i64x2_shuffle(b, d, 1, 3);
}
RC_SIMD F f_add(F a, F b) { return wasm_f32x4_add(a, b); }
RC_SIMD F f_sub(F a, F b) { return wasm_f32x4_sub(a, b); }
RC_SIMD F f_mul(F a, F b) { return wasm_f32x4_mul(a, b); }
RC_SIMD F f_div(F a, F b) { return wasm_f32x4_div(a, b); }
// a > b ? a : b, as x86 has it; wasm_f32x4_max would order zeros as well.
RC_SIMD F f_max(F a, F b) { return wasm_f32x4_pmax(b, a); }
RC_SIMD F f_min(F a, F b) { return wasm_f32x4_pmin(b, a); }
RC_SIMD F f_fma(F a, F b, F c) { return f_add(f_mul(a, b), c); }
RC_SIMD F f_fnma(F a, F b, F c) { return f_sub(c, f_mul(a, b)); }
RC_SIMD F f_sqrt(F x) { return wasm_f32x4_sqrt(x); }
RC_SIMD F f_equal(F a, F b, F x, F y) {
  return wasm_v128_bitselect(x, y, wasm_f32x4_eq(a, b));
}
RC_SIMD F f_less(F a, F b, F x, F y) {
  return wasm_v128_bitselect(x, y, wasm_f32x4_lt(a, b));
}
RC_SIMD float f_sum(F x) {
  x = f_add(x, wasm_i64x2_shuffle(x, x, 1, 1));
  return wasm_f32x4_extract_lane(x, 0) + wasm_f32x4_extract_lane(x, 1);
}
RC_SIMD float f_largest(F x) {
  x = f_max(x, wasm_i64x2_shuffle(x, x, 1, 1));
  x = f_max(x, wasm_i32x4_shuffle(x, x, 1, 1, 1, 1));
  return wasm_f32x4_extract_lane(x, 0);
}
RC_SIMD I f_round(F x) {
  return wasm_i32x4_trunc_sat_f32x4(wasm_f32x4_nearest(x));
}
RC_SIMD F f_from(I x) { return wasm_f32x4_convert_i32x4(x); }
RC_SIMD F f_cast(I x) { return x; }
RC_SIMD I i_cast(F x) { return x; }

RC_SIMD I i_set(int32_t x) { return wasm_i32x4_splat(x); }
RC_SIMD I i_add(I a, I b) { return wasm_i32x4_add(a, b); }
RC_SIMD I i_sub(I a, I b) { return wasm_i32x4_sub(a, b); }
RC_SIMD I i_max_s16(I a, I b) { return wasm_i16x8_max(a, b); }
RC_SIMD I i_and(I a, I b) { return wasm_v128_and(a, b); }
RC_SIMD I i_or(I a, I b) { return wasm_v128_or(a, b); }
template <int n>
RC_SIMD I i_shl(I x) {
  return wasm_i32x4_shl(x, n);
}
RC_SIMD I i_shr(I x, int n) { return wasm_u32x4_shr(x, (uint32_t)n); }
RC_SIMD I i_from_u8(const uint8_t* p) {
  return wasm_u32x4_extend_low_u16x8(
      wasm_u16x8_extend_low_u8x16(wasm_v128_load32_zero(p)));
}
RC_SIMD I i_from_s8(const int8_t* p) {
  return wasm_i32x4_extend_low_i16x8(
      wasm_i16x8_extend_low_i8x16(wasm_v128_load32_zero(p)));
}
RC_SIMD I i_from_u16(const uint16_t* p) { return wasm_u32x4_load16x4(p); }
RC_SIMD int32_t i_sum(I x) {
  x = i_add(x, wasm_i64x2_shuffle(x, x, 1, 1));
  return wasm_i32x4_extract_lane(x, 0) + wasm_i32x4_extract_lane(x, 1);
}
RC_SIMD void i_store_s8(int8_t* p, const I* x) {
  wasm_v128_store(p,
                  wasm_i8x16_narrow_i16x8(wasm_i16x8_narrow_i32x4(x[0], x[1]),
                                          wasm_i16x8_narrow_i32x4(x[2], x[3])));
}
RC_SIMD void i_store_s16(int16_t* p, const I* x) {
  wasm_v128_store(p, wasm_i16x8_narrow_i32x4(x[0], x[1]));
  wasm_v128_store(p + 8, wasm_i16x8_narrow_i32x4(x[2], x[3]));
}

// The exponent moves by a multiplication with 2^112, which also makes
// subnormal numbers right; infinity and NaN get their exponent by hand.
RC_SIMD F f_from_f16(const uint16_t* p) {
  const I half = i_from_u16(p);
  const I magnitude = i_and(half, i_set(0x7fff));
  const I sign = i_shl<16>(i_sub(half, magnitude));
  const I special =
      i_and(wasm_i32x4_gt(magnitude, i_set(0x7bff)), i_set(0x7f800000));
  const F value = f_mul(i_shl<13>(magnitude), i_set((127 + 112) << 23));
  return i_or(value, i_or(special, sign));
}

RC_SIMD B b_load(const uint8_t* p) { return wasm_v128_load(p); }
RC_SIMD void b_store(uint8_t* p, B x) { wasm_v128_store(p, x); }
RC_SIMD B b_mask(B x, int mask) {
  return wasm_v128_and(x, wasm_i8x16_splat((int8_t)mask));
}
RC_SIMD B b_or(B a, B b) { return wasm_v128_or(a, b); }
RC_SIMD B b_zip_low(B a, B b) {
  return wasm_i16x8_shuffle(a, b, 0, 8, 1, 9, 2, 10, 3, 11);
}
RC_SIMD B b_zip_high(B a, B b) {
  return wasm_i16x8_shuffle(a, b, 4, 12, 5, 13, 6, 14, 7, 15);
}
RC_SIMD void b_store_parts(uint16_t* p, int64_t, B a, B b) {
  wasm_v128_store(p, a);
  wasm_v128_store(p + 8, b);
}
template <int n>
RC_SIMD B b_shl(B x) {
  return wasm_i16x8_shl(x, n);
}
template <int n>
RC_SIMD B b_shr(B x) {
  return wasm_u16x8_shr(x, n);
}
RC_SIMD B b_flip(B x) { return wasm_v128_xor(x, wasm_i8x16_splat(-128)); }
RC_SIMD B b_cast(F x) { return x; }
template <int n>
RC_SIMD B byte_of(const B* x) {
  v128_t y[4];
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) {
    y[i] = i_and(wasm_u32x4_shr(x[i], 8 * n), i_set(255));
  }
  return wasm_u8x16_narrow_i16x8(wasm_i16x8_narrow_i32x4(y[0], y[1]),
                                 wasm_i16x8_narrow_i32x4(y[2], y[3]));
}
RC_SIMD void b_store_bytes(uint8_t* p, const B* x) {
  b_store(p, byte_of<0>(x));
  b_store(p + 16, byte_of<1>(x));
  b_store(p + 32, byte_of<2>(x));
  b_store(p + 48, byte_of<3>(x));
}
RC_SIMD void b_store_words(uint8_t* p, const B* x) {
#pragma GCC unroll 2
  for (int i = 0; i < 4; i += 2) {
    b_store(p + 8 * i,
            wasm_i16x8_shuffle(x[i], x[i + 1], 0, 2, 4, 6, 8, 10, 12, 14));
    b_store(p + 32 + 8 * i,
            wasm_i16x8_shuffle(x[i], x[i + 1], 1, 3, 5, 7, 9, 11, 13, 15));
  }
}
RC_SIMD B b_lanes(uint32_t lanes, int byte) {
  const I bits = wasm_i32x4_const(1, 2, 4, 8);
  const I set = i_and(i_set((int32_t)lanes), bits);
  return b_mask(wasm_i32x4_eq(set, bits), byte);
}
RC_SIMD B b_lookup(B index, const uint8_t* table) {
  return wasm_i8x16_swizzle(b_load(table), index);
}

RC_SIMD B b_pairs(I a, I b) {
  return i_or(i_and(a, i_set(0xffff)), i_shl<16>(b));
}
using Columns2 = v128_t;
RC_SIMD Columns2 columns2(const int16_t* p) {
  return wasm_v128_load32_splat(p);
}
RC_SIMD I dot2(I sum, B w, Columns2 a) {
  return i_add(sum, wasm_i32x4_dot_i16x8(w, a));
}

#if defined(__wasm_relaxed_simd__)

// Four columns each.
struct Columns {
  v128_t low, high;
};
RC_SIMD Columns columns8(const int8_t* p) {
  return {wasm_v128_load32_splat(p), wasm_v128_load32_splat(p + 4)};
}

// Sums of 16 bits of two products each. What is relaxed is what becomes of
// bytes of eight bits in the second operand, and of sums that do not fit: with
// quants of at most 63 the results are the same everywhere.
RC_SIMD v128_t dot4_short(B u, v128_t a) {
  return wasm_i16x8_relaxed_dot_i8x16_i7x16(a, u);
}

RC_SIMD I dot4_wide(I sum, B u, v128_t a) {
  const v128_t even = wasm_i16x8_shr(wasm_i16x8_shl(a, 8), 8);
  const v128_t odd = wasm_i16x8_shr(a, 8);
  const v128_t byte = wasm_i16x8_splat(255);
  sum = i_add(sum, wasm_i32x4_dot_i16x8(wasm_v128_and(u, byte), even));
  return i_add(sum, wasm_i32x4_dot_i16x8(wasm_u16x8_shr(u, 8), odd));
}

// Those that are not wide are multiplied in short_sums.h.
template <bool wide>
RC_SIMD I dot8(I sum, B u0, B u1, const Columns& a) {
  static_assert(wide);
  return dot4_wide(dot4_wide(sum, u0, a.low), u1, a.high);
}

#else

// The even and the odd columns, as 16-bit numbers.
struct Columns {
  v128_t low_even, low_odd, high_even, high_odd;
};
RC_SIMD Columns columns8(const int8_t* p) {
  const v128_t low = wasm_v128_load32_splat(p);
  const v128_t high = wasm_v128_load32_splat(p + 4);
  return {wasm_i16x8_shr(wasm_i16x8_shl(low, 8), 8), wasm_i16x8_shr(low, 8),
          wasm_i16x8_shr(wasm_i16x8_shl(high, 8), 8), wasm_i16x8_shr(high, 8)};
}

template <bool wide>
RC_SIMD I dot8(I sum, B u0, B u1, const Columns& a) {
  const v128_t byte = wasm_i16x8_splat(255);
  sum = i_add(sum, wasm_i32x4_dot_i16x8(wasm_v128_and(u0, byte), a.low_even));
  sum = i_add(sum, wasm_i32x4_dot_i16x8(wasm_u16x8_shr(u0, 8), a.low_odd));
  sum = i_add(sum, wasm_i32x4_dot_i16x8(wasm_v128_and(u1, byte), a.high_even));
  return i_add(sum, wasm_i32x4_dot_i16x8(wasm_u16x8_shr(u1, 8), a.high_odd));
}

#endif

}  // namespace rc::cpu::RC_CPU_LEVEL
