// Numbers of up to eight bits, one for each row of a tile: scales and minimums
// of blocks, before they are integers of 32 bits. Where a vector of these is
// four registers and one of bytes a single one, bits are taken out of bytes.
#pragma once

#include "cpu/kernels/simd.h"

namespace rc::cpu::RC_CPU_LEVEL {

#if defined(__wasm_simd128__)

struct Numbers {
  v128_t bytes;
};
RC_SIMD Numbers load_numbers(const uint8_t* p) { return {wasm_v128_load(p)}; }
// `width` bits from bit n on. Shifts move units of 16 bits.
RC_SIMD Numbers some_bits(const Numbers& x, int n, int width) {
  return {b_mask(wasm_u16x8_shr(x.bytes, (uint32_t)n), (1 << width) - 1)};
}
template <int n, int width>
RC_SIMD Numbers some_bits(const Numbers& x) {
  return {b_mask(n == 0 ? x.bytes : b_shr<n>(x.bytes), (1 << width) - 1)};
}
// `high` above the lower n bits.
template <int n>
RC_SIMD Numbers join(const Numbers& low, const Numbers& high) {
  return {b_or(low.bytes, b_shl<n>(high.bytes))};
}
RC_SIMD Vi integers(const Numbers& x) {
  const v128_t low = wasm_u16x8_extend_low_u8x16(x.bytes);
  const v128_t high = wasm_u16x8_extend_high_u8x16(x.bytes);
  return {{wasm_u32x4_extend_low_u16x8(low), wasm_u32x4_extend_high_u16x8(low),
           wasm_u32x4_extend_low_u16x8(high),
           wasm_u32x4_extend_high_u16x8(high)}};
}
RC_SIMD Vi load_signed_numbers(const uint8_t* p) {
  const v128_t all = wasm_v128_load(p);
  const v128_t low = wasm_i16x8_extend_low_i8x16(all);
  const v128_t high = wasm_i16x8_extend_high_i8x16(all);
  return {{wasm_i32x4_extend_low_i16x8(low), wasm_i32x4_extend_high_i16x8(low),
           wasm_i32x4_extend_low_i16x8(high),
           wasm_i32x4_extend_high_i16x8(high)}};
}

#else

struct Numbers {
  Vi all;
};
RC_SIMD Numbers load_numbers(const uint8_t* p) { return {load_u8(p)}; }
RC_SIMD Numbers some_bits(const Numbers& x, int n, int width) {
  return {bits_and(shr(x.all, n), splat_int((1 << width) - 1))};
}
template <int n, int width>
RC_SIMD Numbers some_bits(const Numbers& x) {
  const Vi from = n == 0 ? x.all : shr(x.all, n);
  if constexpr (n + width == 8) return {from};
  return {bits_and(from, splat_int((1 << width) - 1))};
}
template <int n>
RC_SIMD Numbers join(const Numbers& low, const Numbers& high) {
  return {bits_or(low.all, shl<n>(high.all))};
}
RC_SIMD Vi integers(const Numbers& x) { return x.all; }
RC_SIMD Vi load_signed_numbers(const uint8_t* p) {
  return load_s8((const int8_t*)p);
}

#endif

}  // namespace rc::cpu::RC_CPU_LEVEL
