// AVX-512 F, BW, VL, DQ, with VNNI where the level has it.
#pragma once

#include <immintrin.h>

namespace rc::cpu::RC_CPU_LEVEL {

constexpr int kParts = 1;
constexpr bool kConvertsHalves = true;  // f_from_f16 is one instruction
constexpr bool kLeavesOut = true;       // f_load_lanes is there
constexpr int kWideOffset = 128;
using F = __m512;
using I = __m512i;
using B = __m512i;

RC_SIMD F f_set(float x) { return _mm512_set1_ps(x); }
RC_SIMD F f_load(const float* p) { return _mm512_loadu_ps(p); }
// Memory of the other lanes need not exist.
RC_SIMD F f_load_lanes(F rest, const float* p, uint32_t lanes) {
  return _mm512_mask_loadu_ps(rest, (__mmask16)lanes, p);
}
RC_SIMD void f_store(float* p, F x) { _mm512_storeu_ps(p, x); }
RC_SIMD F f_load_fours(const uint8_t* p, int64_t step) {
  F y = _mm512_castps128_ps512(_mm_loadu_ps((const float*)p));
  y = _mm512_insertf32x4(y, _mm_loadu_ps((const float*)(p + step)), 1);
  y = _mm512_insertf32x4(y, _mm_loadu_ps((const float*)(p + 2 * step)), 2);
  return _mm512_insertf32x4(y, _mm_loadu_ps((const float*)(p + 3 * step)), 3);
}
RC_SIMD void f_transpose(F (&x)[4]) {
  const __m512d a = _mm512_castps_pd(_mm512_unpacklo_ps(x[0], x[1]));
  const __m512d b = _mm512_castps_pd(_mm512_unpackhi_ps(x[0], x[1]));
  const __m512d c = _mm512_castps_pd(_mm512_unpacklo_ps(x[2], x[3]));
  const __m512d d = _mm512_castps_pd(_mm512_unpackhi_ps(x[2], x[3]));
  x[0] = _mm512_castpd_ps(_mm512_unpacklo_pd(a, c));
  x[1] = _mm512_castpd_ps(_mm512_unpackhi_pd(a, c));
  x[2] = _mm512_castpd_ps(_mm512_unpacklo_pd(b, d));
  x[3] = _mm512_castpd_ps(_mm512_unpackhi_pd(b, d));
}
RC_SIMD F f_add(F a, F b) { return _mm512_add_ps(a, b); }
RC_SIMD F f_sub(F a, F b) { return _mm512_sub_ps(a, b); }
RC_SIMD F f_mul(F a, F b) { return _mm512_mul_ps(a, b); }
RC_SIMD F f_div(F a, F b) { return _mm512_div_ps(a, b); }
RC_SIMD F f_max(F a, F b) { return _mm512_max_ps(a, b); }
RC_SIMD F f_min(F a, F b) { return _mm512_min_ps(a, b); }
RC_SIMD F f_fma(F a, F b, F c) { return _mm512_fmadd_ps(a, b, c); }
RC_SIMD F f_fnma(F a, F b, F c) { return _mm512_fnmadd_ps(a, b, c); }
RC_SIMD F f_sqrt(F x) { return _mm512_sqrt_ps(x); }
RC_SIMD F f_equal(F a, F b, F x, F y) {
  return _mm512_mask_blend_ps(_mm512_cmp_ps_mask(a, b, _CMP_EQ_OQ), y, x);
}
RC_SIMD F f_less(F a, F b, F x, F y) {
  return _mm512_mask_blend_ps(_mm512_cmp_ps_mask(a, b, _CMP_LT_OQ), y, x);
}
RC_SIMD float f_sum(F x) { return _mm512_reduce_add_ps(x); }
// Lane k is what `join` makes of all lanes of x[k], always in the same order.
template <class Join>
RC_SIMD F f_joined(const F (&x)[16], Join join) {
  F eights[8];
#pragma GCC unroll 8
  for (int k = 0; k < 8; ++k) {
    // 0 and 4, 8 and 12; 1 and 5, 9 and 13; ...
    const F a = x[k / 2 + k % 2 * 8];
    const F b = x[k / 2 + k % 2 * 8 + 4];
    eights[k] = join(_mm512_shuffle_f32x4(a, b, 0x44),
                     _mm512_shuffle_f32x4(a, b, 0xee));
  }
  __m512d fours[4];  // 0, 4, 8 and 12; 1, 5, 9 and 13; ...
#pragma GCC unroll 4
  for (int k = 0; k < 4; ++k) {
    const F a = eights[2 * k];
    const F b = eights[2 * k + 1];
    fours[k] = _mm512_castps_pd(join(_mm512_shuffle_f32x4(a, b, 0x88),
                                     _mm512_shuffle_f32x4(a, b, 0xdd)));
  }
  F twos[2];  // of 0 and 1, 4 and 5, ...; of 2 and 3, 6 and 7, ...
#pragma GCC unroll 2
  for (int k = 0; k < 2; ++k) {
    const __m512d a = fours[2 * k];
    const __m512d b = fours[2 * k + 1];
    twos[k] = join(_mm512_castpd_ps(_mm512_unpacklo_pd(a, b)),
                   _mm512_castpd_ps(_mm512_unpackhi_pd(a, b)));
  }
  return join(_mm512_shuffle_ps(twos[0], twos[1], 0x88),
              _mm512_shuffle_ps(twos[0], twos[1], 0xdd));
}
// Lane k is f_sum(x[k]), of the same additions.
RC_SIMD F f_sums(const F (&x)[16]) {
  return f_joined(
      x, [](F a, F b)
             __attribute__((always_inline)) { return _mm512_add_ps(a, b); });
}
RC_SIMD float f_largest(F x) { return _mm512_reduce_max_ps(x); }
RC_SIMD I f_round(F x) { return _mm512_cvtps_epi32(x); }
RC_SIMD F f_from(I x) { return _mm512_cvtepi32_ps(x); }
RC_SIMD F f_cast(I x) { return _mm512_castsi512_ps(x); }
RC_SIMD I i_cast(F x) { return _mm512_castps_si512(x); }
RC_SIMD F f_from_f16(const uint16_t* p) {
  return _mm512_cvtph_ps(_mm256_loadu_si256((const __m256i*)p));
}
RC_SIMD void f_to_f16(uint16_t* p, F x) {
  _mm256_storeu_si256((__m256i*)p,
                      _mm512_cvtps_ph(x, _MM_FROUND_TO_NEAREST_INT));
}

RC_SIMD I i_set(int32_t x) { return _mm512_set1_epi32(x); }
RC_SIMD I i_add(I a, I b) { return _mm512_add_epi32(a, b); }
RC_SIMD I i_sub(I a, I b) { return _mm512_sub_epi32(a, b); }
RC_SIMD I i_max_s16(I a, I b) { return _mm512_max_epi16(a, b); }
RC_SIMD I i_and(I a, I b) { return _mm512_and_si512(a, b); }
RC_SIMD I i_or(I a, I b) { return _mm512_or_si512(a, b); }
template <int n>
RC_SIMD I i_shl(I x) {
  return _mm512_slli_epi32(x, n);
}
RC_SIMD I i_shr(I x, int n) {
  return _mm512_srl_epi32(x, _mm_cvtsi32_si128(n));
}
RC_SIMD I i_from_u8(const uint8_t* p) {
  return _mm512_cvtepu8_epi32(_mm_loadu_si128((const __m128i*)p));
}
RC_SIMD I i_from_s8(const int8_t* p) {
  return _mm512_cvtepi8_epi32(_mm_loadu_si128((const __m128i*)p));
}
RC_SIMD I i_from_u16(const uint16_t* p) {
  return _mm512_cvtepu16_epi32(_mm256_loadu_si256((const __m256i*)p));
}
RC_SIMD int32_t i_sum(I x) { return _mm512_reduce_add_epi32(x); }
RC_SIMD void i_store_s8(int8_t* p, const I* x) {
  _mm_storeu_si128((__m128i*)p, _mm512_cvtepi32_epi8(x[0]));
}
RC_SIMD void i_store_s16(int16_t* p, const I* x) {
  _mm256_storeu_si256((__m256i*)p, _mm512_cvtepi32_epi16(x[0]));
}

RC_SIMD B b_load(const uint8_t* p) { return _mm512_loadu_si512(p); }
RC_SIMD void b_store(uint8_t* p, B x) { _mm512_storeu_si512(p, x); }
RC_SIMD B b_mask(B x, int mask) {
  return _mm512_and_si512(x, _mm512_set1_epi8((char)mask));
}
RC_SIMD B b_or(B a, B b) { return _mm512_or_si512(a, b); }
RC_SIMD B b_zip_low(B a, B b) { return _mm512_unpacklo_epi16(a, b); }
RC_SIMD B b_zip_high(B a, B b) { return _mm512_unpackhi_epi16(a, b); }
RC_SIMD void b_store_parts(uint16_t* p, int64_t step, B a, B b) {
  const B low = _mm512_permutex2var_epi64(
      a, _mm512_setr_epi64(0, 1, 8, 9, 2, 3, 10, 11), b);
  const B high = _mm512_permutex2var_epi64(
      a, _mm512_setr_epi64(4, 5, 12, 13, 6, 7, 14, 15), b);
  _mm256_storeu_si256((__m256i*)p, _mm512_castsi512_si256(low));
  _mm256_storeu_si256((__m256i*)(p + step), _mm512_extracti64x4_epi64(low, 1));
  _mm256_storeu_si256((__m256i*)(p + 2 * step), _mm512_castsi512_si256(high));
  _mm256_storeu_si256((__m256i*)(p + 3 * step),
                      _mm512_extracti64x4_epi64(high, 1));
}
template <int n>
RC_SIMD B b_shl(B x) {
  return _mm512_slli_epi16(x, n);
}
template <int n>
RC_SIMD B b_shr(B x) {
  return _mm512_srli_epi16(x, n);
}
RC_SIMD B b_flip(B x) {
  return _mm512_xor_si512(x, _mm512_set1_epi8((char)128));
}
RC_SIMD B b_cast(F x) { return _mm512_castps_si512(x); }
RC_SIMD void b_store_bytes(uint8_t* p, const B* x) {
  const __m512i order = _mm512_broadcast_i32x4(
      _mm_setr_epi8(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15));
  const __m512i place =
      _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
  b_store(p, _mm512_permutexvar_epi32(place, _mm512_shuffle_epi8(*x, order)));
}
RC_SIMD void b_store_words(uint8_t* p, const B* x) {
  const __m512i order = _mm512_broadcast_i32x4(
      _mm_setr_epi8(0, 1, 4, 5, 8, 9, 12, 13, 2, 3, 6, 7, 10, 11, 14, 15));
  const __m512i place = _mm512_setr_epi64(0, 2, 4, 6, 1, 3, 5, 7);
  b_store(p, _mm512_permutexvar_epi64(place, _mm512_shuffle_epi8(*x, order)));
}
RC_SIMD B b_lanes(uint32_t lanes, int byte) {
  return _mm512_maskz_set1_epi32((__mmask16)lanes, byte * 0x01010101);
}
RC_SIMD B b_lookup(B index, const uint8_t* table) {
  return _mm512_shuffle_epi8(
      _mm512_broadcast_i32x4(_mm_loadu_si128((const __m128i*)table)), index);
}

struct Columns {
  __m512i low, high;
};
RC_SIMD __m512i columns4(const int8_t* p) {
  int32_t bits;
  __builtin_memcpy(&bits, p, 4);
  return _mm512_set1_epi32(bits);
}
RC_SIMD Columns columns8(const int8_t* p) {
  return {columns4(p), columns4(p + 4)};
}

RC_SIMD B b_pairs(I a, I b) {
  return _mm512_mask_blend_epi16(0xaaaaaaaa, a, _mm512_slli_epi32(b, 16));
}
using Columns2 = __m512i;
RC_SIMD Columns2 columns2(const int16_t* p) {
  return columns4((const int8_t*)p);
}

#if defined(__AVX512VNNI__)

template <bool wide>
RC_SIMD I dot8(I sum, B u0, B u1, const Columns& a) {
  return _mm512_dpbusd_epi32(_mm512_dpbusd_epi32(sum, u0, a.low), u1, a.high);
}
RC_SIMD I dot2(I sum, B w, Columns2 a) {
  return _mm512_dpwssd_epi32(sum, w, a);
}

#else

RC_SIMD I dot2(I sum, B w, Columns2 a) {
  return _mm512_add_epi32(sum, _mm512_madd_epi16(w, a));
}

RC_SIMD I dot4_wide(I sum, B u, __m512i a) {
  const __m512i even = _mm512_srai_epi16(_mm512_slli_epi16(a, 8), 8);
  const __m512i odd = _mm512_srai_epi16(a, 8);
  sum = _mm512_add_epi32(
      sum,
      _mm512_madd_epi16(_mm512_and_si512(u, _mm512_set1_epi16(255)), even));
  return _mm512_add_epi32(sum, _mm512_madd_epi16(_mm512_srli_epi16(u, 8), odd));
}

template <bool wide>
RC_SIMD I dot8(I sum, B u0, B u1, const Columns& a) {
  if constexpr (wide) {
    return dot4_wide(dot4_wide(sum, u0, a.low), u1, a.high);
  } else {
    // Four products of at most 63 * 127 fit 16 bits.
    const __m512i pairs = _mm512_add_epi16(_mm512_maddubs_epi16(u0, a.low),
                                           _mm512_maddubs_epi16(u1, a.high));
    return _mm512_add_epi32(sum,
                            _mm512_madd_epi16(pairs, _mm512_set1_epi16(1)));
  }
}

#endif

}  // namespace rc::cpu::RC_CPU_LEVEL
