// ARM NEON of every aarch64, with the instructions for products of bytes where
// the level has them. Bytes are multiplied as signed numbers: those of wide
// formats lose their offset of 128 on the way, so none is left to subtract.
#pragma once

#include <arm_neon.h>

namespace rc::cpu::RC_CPU_LEVEL {

constexpr int kParts = 4;
constexpr bool kConvertsHalves = true;  // f_from_f16 is one instruction
constexpr bool kLeavesOut = false;
constexpr int kWideOffset = 0;
using F = float32x4_t;
using I = int32x4_t;
using B = uint8x16_t;

RC_SIMD F f_set(float x) { return vdupq_n_f32(x); }
RC_SIMD F f_load(const float* p) { return vld1q_f32(p); }
RC_SIMD void f_store(float* p, F x) { vst1q_f32(p, x); }
RC_SIMD F f_load_fours(const uint8_t* p, int64_t) {
  return vreinterpretq_f32_u8(vld1q_u8(p));
}
RC_SIMD void f_transpose(F (&x)[4]) {
  const float64x2_t a = vreinterpretq_f64_f32(vzip1q_f32(x[0], x[1]));
  const float64x2_t b = vreinterpretq_f64_f32(vzip2q_f32(x[0], x[1]));
  const float64x2_t c = vreinterpretq_f64_f32(vzip1q_f32(x[2], x[3]));
  const float64x2_t d = vreinterpretq_f64_f32(vzip2q_f32(x[2], x[3]));
  x[0] = vreinterpretq_f32_f64(vzip1q_f64(a, c));
  x[1] = vreinterpretq_f32_f64(vzip2q_f64(a, c));
  x[2] = vreinterpretq_f32_f64(vzip1q_f64(b, d));
  x[3] = vreinterpretq_f32_f64(vzip2q_f64(b, d));
}
RC_SIMD F f_add(F a, F b) { return vaddq_f32(a, b); }
RC_SIMD F f_sub(F a, F b) { return vsubq_f32(a, b); }
RC_SIMD F f_mul(F a, F b) { return vmulq_f32(a, b); }
RC_SIMD F f_div(F a, F b) { return vdivq_f32(a, b); }
RC_SIMD F f_max(F a, F b) { return vmaxq_f32(a, b); }
RC_SIMD F f_min(F a, F b) { return vminq_f32(a, b); }
RC_SIMD F f_fma(F a, F b, F c) { return vfmaq_f32(c, a, b); }
RC_SIMD F f_fnma(F a, F b, F c) { return vfmsq_f32(c, a, b); }
RC_SIMD F f_sqrt(F x) { return vsqrtq_f32(x); }
RC_SIMD F f_equal(F a, F b, F x, F y) {
  return vbslq_f32(vceqq_f32(a, b), x, y);
}
RC_SIMD F f_less(F a, F b, F x, F y) {
  return vbslq_f32(vcltq_f32(a, b), x, y);
}
RC_SIMD float f_sum(F x) { return vaddvq_f32(x); }
RC_SIMD float f_largest(F x) { return vmaxvq_f32(x); }
RC_SIMD I f_round(F x) { return vcvtnq_s32_f32(x); }
RC_SIMD F f_from(I x) { return vcvtq_f32_s32(x); }
RC_SIMD F f_cast(I x) { return vreinterpretq_f32_s32(x); }
RC_SIMD I i_cast(F x) { return vreinterpretq_s32_f32(x); }
RC_SIMD F f_from_f16(const uint16_t* p) {
  return vcvt_f32_f16(vreinterpret_f16_u16(vld1_u16(p)));
}
RC_SIMD void f_to_f16(uint16_t* p, F x) {
  vst1_u16(p, vreinterpret_u16_f16(vcvt_f16_f32(x)));
}

RC_SIMD I i_set(int32_t x) { return vdupq_n_s32(x); }
RC_SIMD I i_add(I a, I b) { return vaddq_s32(a, b); }
RC_SIMD I i_sub(I a, I b) { return vsubq_s32(a, b); }
RC_SIMD I i_max_s16(I a, I b) {
  return vreinterpretq_s32_s16(
      vmaxq_s16(vreinterpretq_s16_s32(a), vreinterpretq_s16_s32(b)));
}
RC_SIMD I i_and(I a, I b) { return vandq_s32(a, b); }
RC_SIMD I i_or(I a, I b) { return vorrq_s32(a, b); }
template <int n>
RC_SIMD I i_shl(I x) {
  return vshlq_n_s32(x, n);
}
RC_SIMD I i_shr(I x, int n) {
  return vreinterpretq_s32_u32(
      vshlq_u32(vreinterpretq_u32_s32(x), vdupq_n_s32(-n)));
}
RC_SIMD I i_from_u8(const uint8_t* p) {
  uint32_t bits;
  __builtin_memcpy(&bits, p, 4);
  const uint8x8_t bytes = vreinterpret_u8_u32(vdup_n_u32(bits));
  return vreinterpretq_s32_u32(vmovl_u16(vget_low_u16(vmovl_u8(bytes))));
}
RC_SIMD I i_from_s8(const int8_t* p) {
  uint32_t bits;
  __builtin_memcpy(&bits, p, 4);
  const int8x8_t bytes = vreinterpret_s8_u32(vdup_n_u32(bits));
  return vmovl_s16(vget_low_s16(vmovl_s8(bytes)));
}
RC_SIMD I i_from_u16(const uint16_t* p) {
  return vreinterpretq_s32_u32(vmovl_u16(vld1_u16(p)));
}
RC_SIMD int32_t i_sum(I x) { return vaddvq_s32(x); }
RC_SIMD void i_store_s8(int8_t* p, const I* x) {
  const int16x8_t low = vcombine_s16(vqmovn_s32(x[0]), vqmovn_s32(x[1]));
  const int16x8_t high = vcombine_s16(vqmovn_s32(x[2]), vqmovn_s32(x[3]));
  vst1q_s8(p, vcombine_s8(vqmovn_s16(low), vqmovn_s16(high)));
}
RC_SIMD void i_store_s16(int16_t* p, const I* x) {
  vst1q_s16(p, vcombine_s16(vqmovn_s32(x[0]), vqmovn_s32(x[1])));
  vst1q_s16(p + 8, vcombine_s16(vqmovn_s32(x[2]), vqmovn_s32(x[3])));
}

RC_SIMD B b_load(const uint8_t* p) { return vld1q_u8(p); }
RC_SIMD void b_store(uint8_t* p, B x) { vst1q_u8(p, x); }
RC_SIMD B b_mask(B x, int mask) {
  return vandq_u8(x, vdupq_n_u8((uint8_t)mask));
}
RC_SIMD B b_or(B a, B b) { return vorrq_u8(a, b); }
RC_SIMD B b_zip_low(B a, B b) {
  return vreinterpretq_u8_u16(
      vzip1q_u16(vreinterpretq_u16_u8(a), vreinterpretq_u16_u8(b)));
}
RC_SIMD B b_zip_high(B a, B b) {
  return vreinterpretq_u8_u16(
      vzip2q_u16(vreinterpretq_u16_u8(a), vreinterpretq_u16_u8(b)));
}
RC_SIMD void b_store_parts(uint16_t* p, int64_t, B a, B b) {
  vst1q_u16(p, vreinterpretq_u16_u8(a));
  vst1q_u16(p + 8, vreinterpretq_u16_u8(b));
}
template <int n>
RC_SIMD B b_shl(B x) {
  return vshlq_n_u8(x, n);
}
template <int n>
RC_SIMD B b_shr(B x) {
  if constexpr (n == 0) {
    return x;
  } else {
    return vshrq_n_u8(x, n);
  }
}
RC_SIMD B b_flip(B x) { return veorq_u8(x, vdupq_n_u8(128)); }
RC_SIMD B b_cast(F x) { return vreinterpretq_u8_f32(x); }
// The even and the odd 16-bit numbers of a, then of b.
RC_SIMD B even_words(B a, B b) {
  return vreinterpretq_u8_u16(
      vuzp1q_u16(vreinterpretq_u16_u8(a), vreinterpretq_u16_u8(b)));
}
RC_SIMD B odd_words(B a, B b) {
  return vreinterpretq_u8_u16(
      vuzp2q_u16(vreinterpretq_u16_u8(a), vreinterpretq_u16_u8(b)));
}
RC_SIMD void b_store_words(uint8_t* p, const B* x) {
  b_store(p, even_words(x[0], x[1]));
  b_store(p + 16, even_words(x[2], x[3]));
  b_store(p + 32, odd_words(x[0], x[1]));
  b_store(p + 48, odd_words(x[2], x[3]));
}
RC_SIMD void b_store_bytes(uint8_t* p, const B* x) {
  const B even[2] = {even_words(x[0], x[1]), even_words(x[2], x[3])};
  const B odd[2] = {odd_words(x[0], x[1]), odd_words(x[2], x[3])};
  b_store(p, vuzp1q_u8(even[0], even[1]));
  b_store(p + 16, vuzp2q_u8(even[0], even[1]));
  b_store(p + 32, vuzp1q_u8(odd[0], odd[1]));
  b_store(p + 48, vuzp2q_u8(odd[0], odd[1]));
}
RC_SIMD B b_lanes(uint32_t lanes, int byte) {
  const uint32_t bits[4] = {1, 2, 4, 8};
  return b_mask(
      vreinterpretq_u8_u32(vtstq_u32(vdupq_n_u32(lanes), vld1q_u32(bits))),
      byte);
}
RC_SIMD B b_lookup(B index, const uint8_t* table) {
  return vqtbl1q_u8(vld1q_u8(table), index);
}

struct Columns {
  int8x16_t low, high;
};
RC_SIMD int8x16_t columns4(const int8_t* p) {
  int32_t bits;
  __builtin_memcpy(&bits, p, 4);
  return vreinterpretq_s8_s32(vdupq_n_s32(bits));
}
RC_SIMD Columns columns8(const int8_t* p) {
  return {columns4(p), columns4(p + 4)};
}

// The first column of the rows, then the second: each is multiplied by a lane.
RC_SIMD B b_pairs(I a, I b) {
  return vreinterpretq_u8_s16(vcombine_s16(vmovn_s32(a), vmovn_s32(b)));
}
using Columns2 = int16x4_t;
RC_SIMD Columns2 columns2(const int16_t* p) {
  int32_t bits;
  __builtin_memcpy(&bits, p, 4);
  return vreinterpret_s16_s32(vdup_n_s32(bits));
}
RC_SIMD I dot2(I sum, B w, Columns2 a) {
  const int16x8_t both = vreinterpretq_s16_u8(w);
  return vmlal_lane_s16(vmlal_lane_s16(sum, vget_low_s16(both), a, 0),
                        vget_high_s16(both), a, 1);
}

// Two columns of activations in each lane, as b_pairs has them.
RC_SIMD I dot2(I sum, B w, B a) {
  const int16x8_t weights = vreinterpretq_s16_u8(w);
  const int16x8_t columns = vreinterpretq_s16_u8(a);
  return vmlal_s16(vmlal_s16(sum, vget_low_s16(weights), vget_low_s16(columns)),
                   vget_high_s16(weights), vget_high_s16(columns));
}

RC_SIMD I dot4(I sum, int8x16_t w, int8x16_t a) {
#if defined(__ARM_FEATURE_DOTPROD)
  return vdotq_s32(sum, w, a);
#else
  const int32x4_t low = vpaddlq_s16(vmull_s8(vget_low_s8(w), vget_low_s8(a)));
  const int32x4_t high =
      vpaddlq_s16(vmull_s8(vget_high_s8(w), vget_high_s8(a)));
  return vaddq_s32(sum, vpaddq_s32(low, high));
#endif
}

template <bool wide>
RC_SIMD int8x16_t signed_bytes(B u) {
  return vreinterpretq_s8_u8(wide ? veorq_u8(u, vdupq_n_u8(128)) : u);
}

template <bool wide>
RC_SIMD I dot8(I sum, B u0, B u1, const Columns& a) {
  return dot4(dot4(sum, signed_bytes<wide>(u0), a.low), signed_bytes<wide>(u1),
              a.high);
}

#if defined(__ARM_FEATURE_MATMUL_INT8)

// One instruction multiplies eight columns of two rows of a weight with those
// of two rows of activations. Its sums lie as i_pair makes them of the sums of
// each of the two, and i_apart takes them apart again.
RC_SIMD void i_pair(I& a, I& b) {
  const I low = vzip1q_s32(a, b);
  b = vzip2q_s32(a, b);
  a = low;
}
RC_SIMD void i_apart(I& a, I& b) {
  const I even = vuzp1q_s32(a, b);
  b = vuzp2q_s32(a, b);
  a = even;
}

using TwoColumns = int8x16_t;
RC_SIMD TwoColumns columns8(const int8_t* p, const int8_t* q) {
  return vcombine_s8(vld1_s8(p), vld1_s8(q));
}

template <bool wide>
RC_SIMD void dot8_two(I& a, I& b, B u0, B u1, const TwoColumns& x) {
  I low = vreinterpretq_s32_s8(signed_bytes<wide>(u0));
  I high = vreinterpretq_s32_s8(signed_bytes<wide>(u1));
  i_pair(low, high);
  a = vmmlaq_s32(a, vreinterpretq_s8_s32(low), x);
  b = vmmlaq_s32(b, vreinterpretq_s8_s32(high), x);
}

#endif

}  // namespace rc::cpu::RC_CPU_LEVEL
