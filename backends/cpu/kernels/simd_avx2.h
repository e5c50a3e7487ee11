// AVX2 with FMA and F16C.
#pragma once

#include <immintrin.h>

namespace rc::cpu::RC_CPU_LEVEL {

constexpr int kParts = 2;
constexpr bool kConvertsHalves = true;  // f_from_f16 is one instruction
constexpr bool kLeavesOut = false;
constexpr int kWideOffset = 128;
using F = __m256;
using I = __m256i;
using B = __m256i;

RC_SIMD F f_set(float x) { return _mm256_set1_ps(x); }
RC_SIMD F f_load(const float* p) { return _mm256_loadu_ps(p); }
RC_SIMD void f_store(float* p, F x) { _mm256_storeu_ps(p, x); }
RC_SIMD F f_load_fours(const uint8_t* p, int64_t step) {
  return _mm256_insertf128_ps(
      _mm256_castps128_ps256(_mm_loadu_ps((const float*)p)),
      _mm_loadu_ps((const float*)(p + step)), 1);
}
RC_SIMD void f_transpose(F (&x)[4]) {
  const __m256d a = _mm256_castps_pd(_mm256_unpacklo_ps(x[0], x[1]));
  const __m256d b = _mm256_castps_pd(_mm256_unpackhi_ps(x[0], x[1]));
  const __m256d c = _mm256_castps_pd(_mm256_unpacklo_ps(x[2], x[3]));
  const __m256d d = _mm256_castps_pd(_mm256_unpackhi_ps(x[2], x[3]));
  x[0] = _mm256_castpd_ps(_mm256_unpacklo_pd(a, c));
  x[1] = _mm256_castpd_ps(_mm256_unpackhi_pd(a, c));
  x[2] = _mm256_castpd_ps(_mm256_unpacklo_pd(b, d));
  x[3] = _mm256_castpd_ps(_mm256_unpackhi_pd(b, d));
}
RC_SIMD F f_add(F a, F b) { return _mm256_add_ps(a, b); }
RC_SIMD F f_sub(F a, F b) { return _mm256_sub_ps(a, b); }
RC_SIMD F f_mul(F a, F b) { return _mm256_mul_ps(a, b); }
RC_SIMD F f_div(F a, F b) { return _mm256_div_ps(a, b); }
RC_SIMD F f_max(F a, F b) { return _mm256_max_ps(a, b); }
RC_SIMD F f_min(F a, F b) { return _mm256_min_ps(a, b); }
RC_SIMD F f_fma(F a, F b, F c) { return _mm256_fmadd_ps(a, b, c); }
RC_SIMD F f_fnma(F a, F b, F c) { return _mm256_fnmadd_ps(a, b, c); }
RC_SIMD F f_sqrt(F x) { return _mm256_sqrt_ps(x); }
RC_SIMD F f_equal(F a, F b, F x, F y) {
  return _mm256_blendv_ps(y, x, _mm256_cmp_ps(a, b, _CMP_EQ_OQ));
}
RC_SIMD F f_less(F a, F b, F x, F y) {
  return _mm256_blendv_ps(y, x, _mm256_cmp_ps(a, b, _CMP_LT_OQ));
}
RC_SIMD float f_sum(F x) {
  __m128 s = _mm_add_ps(_mm256_castps256_ps128(x), _mm256_extractf128_ps(x, 1));
  s = _mm_add_ps(s, _mm_movehl_ps(s, s));
  return _mm_cvtss_f32(_mm_add_ss(s, _mm_movehdup_ps(s)));
}
// Lane k is what `join` makes of all lanes of x[k], always in the same order.
template <class Join>
RC_SIMD F f_joined(const F (&x)[8], Join join) {
  F fours[2];
#pragma GCC unroll 2
  for (int i = 0; i < 2; ++i) {
    __m256d twos[2];
#pragma GCC unroll 2
    for (int k = 0; k < 2; ++k) {
      const F a = x[4 * i + 2 * k];
      const F b = x[4 * i + 2 * k + 1];
      twos[k] = _mm256_castps_pd(
          join(_mm256_unpacklo_ps(a, b), _mm256_unpackhi_ps(a, b)));
    }
    fours[i] = join(_mm256_castpd_ps(_mm256_unpacklo_pd(twos[0], twos[1])),
                    _mm256_castpd_ps(_mm256_unpackhi_pd(twos[0], twos[1])));
  }
  return join(_mm256_permute2f128_ps(fours[0], fours[1], 0x20),
              _mm256_permute2f128_ps(fours[0], fours[1], 0x31));
}
RC_SIMD float f_largest(F x) {
  __m128 s = _mm_max_ps(_mm256_castps256_ps128(x), _mm256_extractf128_ps(x, 1));
  s = _mm_max_ps(s, _mm_movehl_ps(s, s));
  return _mm_cvtss_f32(_mm_max_ss(s, _mm_movehdup_ps(s)));
}
RC_SIMD I f_round(F x) { return _mm256_cvtps_epi32(x); }
RC_SIMD F f_from(I x) { return _mm256_cvtepi32_ps(x); }
RC_SIMD F f_cast(I x) { return _mm256_castsi256_ps(x); }
RC_SIMD I i_cast(F x) { return _mm256_castps_si256(x); }
RC_SIMD F f_from_f16(const uint16_t* p) {
  return _mm256_cvtph_ps(_mm_loadu_si128((const __m128i*)p));
}
RC_SIMD void f_to_f16(uint16_t* p, F x) {
  _mm_storeu_si128((__m128i*)p, _mm256_cvtps_ph(x, _MM_FROUND_TO_NEAREST_INT));
}

RC_SIMD I i_set(int32_t x) { return _mm256_set1_epi32(x); }
RC_SIMD I i_add(I a, I b) { return _mm256_add_epi32(a, b); }
RC_SIMD I i_sub(I a, I b) { return _mm256_sub_epi32(a, b); }
RC_SIMD I i_max_s16(I a, I b) { return _mm256_max_epi16(a, b); }
RC_SIMD I i_and(I a, I b) { return _mm256_and_si256(a, b); }
RC_SIMD I i_or(I a, I b) { return _mm256_or_si256(a, b); }
template <int n>
RC_SIMD I i_shl(I x) {
  return _mm256_slli_epi32(x, n);
}
RC_SIMD I i_shr(I x, int n) {
  return _mm256_srl_epi32(x, _mm_cvtsi32_si128(n));
}
RC_SIMD I i_from_u8(const uint8_t* p) {
  return _mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i*)p));
}
RC_SIMD I i_from_s8(const int8_t* p) {
  return _mm256_cvtepi8_epi32(_mm_loadl_epi64((const __m128i*)p));
}
RC_SIMD I i_from_u16(const uint16_t* p) {
  return _mm256_cvtepu16_epi32(_mm_loadu_si128((const __m128i*)p));
}
RC_SIMD int32_t i_sum(I x) {
  __m128i s =
      _mm_add_epi32(_mm256_castsi256_si128(x), _mm256_extracti128_si256(x, 1));
  s = _mm_add_epi32(s, _mm_shuffle_epi32(s, 0x4e));
  return _mm_cvtsi128_si32(_mm_add_epi32(s, _mm_shuffle_epi32(s, 0xb1)));
}
RC_SIMD void i_store_s8(int8_t* p, const I* x) {
  const __m256i words =
      _mm256_permute4x64_epi64(_mm256_packs_epi32(x[0], x[1]), 0xd8);
  _mm_storeu_si128((__m128i*)p,
                   _mm_packs_epi16(_mm256_castsi256_si128(words),
                                   _mm256_extracti128_si256(words, 1)));
}
RC_SIMD void i_store_s16(int16_t* p, const I* x) {
  _mm256_storeu_si256((__m256i*)p, _mm256_permute4x64_epi64(
                                       _mm256_packs_epi32(x[0], x[1]), 0xd8));
}

RC_SIMD B b_load(const uint8_t* p) {
  return _mm256_loadu_si256((const __m256i*)p);
}
RC_SIMD void b_store(uint8_t* p, B x) { _mm256_storeu_si256((__m256i*)p, x); }
RC_SIMD B b_mask(B x, int mask) {
  return _mm256_and_si256(x, _mm256_set1_epi8((char)mask));
}
RC_SIMD B b_or(B a, B b) { return _mm256_or_si256(a, b); }
RC_SIMD B b_zip_low(B a, B b) { return _mm256_unpacklo_epi16(a, b); }
RC_SIMD B b_zip_high(B a, B b) { return _mm256_unpackhi_epi16(a, b); }
RC_SIMD void b_store_parts(uint16_t* p, int64_t step, B a, B b) {
  _mm256_storeu_si256((__m256i*)p, _mm256_permute2x128_si256(a, b, 0x20));
  _mm256_storeu_si256((__m256i*)(p + step),
                      _mm256_permute2x128_si256(a, b, 0x31));
}
template <int n>
RC_SIMD B b_shl(B x) {
  return _mm256_slli_epi16(x, n);
}
template <int n>
RC_SIMD B b_shr(B x) {
  return _mm256_srli_epi16(x, n);
}
RC_SIMD B b_flip(B x) {
  return _mm256_xor_si256(x, _mm256_set1_epi8((char)128));
}
RC_SIMD B b_cast(F x) { return _mm256_castps_si256(x); }
RC_SIMD void b_store_bytes(uint8_t* p, const B* x) {
  const __m256i order = _mm256_broadcastsi128_si256(
      _mm_setr_epi8(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15));
  const __m256i place = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
  const __m256i a =
      _mm256_permutevar8x32_epi32(_mm256_shuffle_epi8(x[0], order), place);
  const __m256i b =
      _mm256_permutevar8x32_epi32(_mm256_shuffle_epi8(x[1], order), place);
  const __m256i even = _mm256_unpacklo_epi64(a, b);
  const __m256i odd = _mm256_unpackhi_epi64(a, b);
  b_store(p, _mm256_permute2x128_si256(even, odd, 0x20));
  b_store(p + 32, _mm256_permute2x128_si256(even, odd, 0x31));
}
RC_SIMD void b_store_words(uint8_t* p, const B* x) {
  const __m256i order = _mm256_broadcastsi128_si256(
      _mm_setr_epi8(0, 1, 4, 5, 8, 9, 12, 13, 2, 3, 6, 7, 10, 11, 14, 15));
  const __m256i a =
      _mm256_permute4x64_epi64(_mm256_shuffle_epi8(x[0], order), 0xd8);
  const __m256i b =
      _mm256_permute4x64_epi64(_mm256_shuffle_epi8(x[1], order), 0xd8);
  b_store(p, _mm256_permute2x128_si256(a, b, 0x20));
  b_store(p + 32, _mm256_permute2x128_si256(a, b, 0x31));
}
RC_SIMD B b_lanes(uint32_t lanes, int byte) {
  const __m256i bits = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
  const __m256i set = _mm256_and_si256(_mm256_set1_epi32((int32_t)lanes), bits);
  return b_mask(_mm256_cmpeq_epi32(set, bits), byte);
}
RC_SIMD B b_lookup(B index, const uint8_t* table) {
  return _mm256_shuffle_epi8(
      _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i*)table)),
      index);
}

struct Columns {
  __m256i low, high;
};
RC_SIMD __m256i columns4(const int8_t* p) {
  int32_t bits;
  __builtin_memcpy(&bits, p, 4);
  return _mm256_set1_epi32(bits);
}
RC_SIMD Columns columns8(const int8_t* p) {
  return {columns4(p), columns4(p + 4)};
}

RC_SIMD B b_pairs(I a, I b) {
  return _mm256_blend_epi16(a, _mm256_slli_epi32(b, 16), 0xaa);
}
using Columns2 = __m256i;
RC_SIMD Columns2 columns2(const int16_t* p) {
  return columns4((const int8_t*)p);
}
RC_SIMD I dot2(I sum, B w, Columns2 a) {
  return _mm256_add_epi32(sum, _mm256_madd_epi16(w, a));
}

RC_SIMD I dot4_wide(I sum, B u, __m256i a) {
  const __m256i even = _mm256_srai_epi16(_mm256_slli_epi16(a, 8), 8);
  const __m256i odd = _mm256_srai_epi16(a, 8);
  sum = _mm256_add_epi32(
      sum,
      _mm256_madd_epi16(_mm256_and_si256(u, _mm256_set1_epi16(255)), even));
  return _mm256_add_epi32(sum, _mm256_madd_epi16(_mm256_srli_epi16(u, 8), odd));
}

template <bool wide>
RC_SIMD I dot8(I sum, B u0, B u1, const Columns& a) {
  if constexpr (wide) {
    return dot4_wide(dot4_wide(sum, u0, a.low), u1, a.high);
  } else {
    // Four products of at most 63 * 127 fit 16 bits.
    const __m256i pairs = _mm256_add_epi16(_mm256_maddubs_epi16(u0, a.low),
                                           _mm256_maddubs_epi16(u1, a.high));
    return _mm256_add_epi32(sum,
                            _mm256_madd_epi16(pairs, _mm256_set1_epi16(1)));
  }
}

}  // namespace rc::cpu::RC_CPU_LEVEL
