// SSE2: what every x86-64 has. There is no fused multiply-add, no conversion
// from binary16 and no byte lookup; they are made of what is there.
#pragma once

#include <emmintrin.h>

namespace rc::cpu::RC_CPU_LEVEL {

constexpr int kParts = 4;
constexpr bool kConvertsHalves = false;  // f_from_f16 is many instructions
constexpr bool kLeavesOut = false;
constexpr int kWideOffset = 128;
using F = __m128;
using I = __m128i;
using B = __m128i;

RC_SIMD F f_set(float x) { return _mm_set1_ps(x); }
RC_SIMD F f_load(const float* p) { return _mm_loadu_ps(p); }
RC_SIMD void f_store(float* p, F x) { _mm_storeu_ps(p, x); }
RC_SIMD F f_load_fours(const uint8_t* p, int64_t) {
  return _mm_loadu_ps((const float*)p);
}
RC_SIMD void f_transpose(F (&x)[4]) {
  _MM_TRANSPOSE4_PS(x[0], x[1], x[2], x[3]);
}
RC_SIMD F f_add(F a, F b) { return _mm_add_ps(a, b); }
RC_SIMD F f_sub(F a, F b) { return _mm_sub_ps(a, b); }
RC_SIMD F f_mul(F a, F b) { return _mm_mul_ps(a, b); }
RC_SIMD F f_div(F a, F b) { return _mm_div_ps(a, b); }
RC_SIMD F f_max(F a, F b) { return _mm_max_ps(a, b); }
RC_SIMD F f_min(F a, F b) { return _mm_min_ps(a, b); }
RC_SIMD F f_fma(F a, F b, F c) { return _mm_add_ps(_mm_mul_ps(a, b), c); }
RC_SIMD F f_fnma(F a, F b, F c) { return _mm_sub_ps(c, _mm_mul_ps(a, b)); }
RC_SIMD F f_sqrt(F x) { return _mm_sqrt_ps(x); }
RC_SIMD F f_equal(F a, F b, F x, F y) {
  const __m128 mask = _mm_cmpeq_ps(a, b);
  return _mm_or_ps(_mm_and_ps(mask, x), _mm_andnot_ps(mask, y));
}
RC_SIMD F f_less(F a, F b, F x, F y) {
  const __m128 mask = _mm_cmplt_ps(a, b);
  return _mm_or_ps(_mm_and_ps(mask, x), _mm_andnot_ps(mask, y));
}
RC_SIMD float f_sum(F x) {
  x = _mm_add_ps(x, _mm_movehl_ps(x, x));
  return _mm_cvtss_f32(_mm_add_ss(x, _mm_shuffle_ps(x, x, 1)));
}
RC_SIMD float f_largest(F x) {
  x = _mm_max_ps(x, _mm_movehl_ps(x, x));
  return _mm_cvtss_f32(_mm_max_ss(x, _mm_shuffle_ps(x, x, 1)));
}
RC_SIMD I f_round(F x) { return _mm_cvtps_epi32(x); }
RC_SIMD F f_from(I x) { return _mm_cvtepi32_ps(x); }
RC_SIMD F f_cast(I x) { return _mm_castsi128_ps(x); }
RC_SIMD I i_cast(F x) { return _mm_castps_si128(x); }

RC_SIMD I i_set(int32_t x) { return _mm_set1_epi32(x); }
RC_SIMD I i_add(I a, I b) { return _mm_add_epi32(a, b); }
RC_SIMD I i_sub(I a, I b) { return _mm_sub_epi32(a, b); }
RC_SIMD I i_max_s16(I a, I b) { return _mm_max_epi16(a, b); }
RC_SIMD I i_and(I a, I b) { return _mm_and_si128(a, b); }
RC_SIMD I i_or(I a, I b) { return _mm_or_si128(a, b); }
template <int n>
RC_SIMD I i_shl(I x) {
  return _mm_slli_epi32(x, n);
}
RC_SIMD I i_shr(I x, int n) { return _mm_srl_epi32(x, _mm_cvtsi32_si128(n)); }
RC_SIMD __m128i load4(const void* p) {
  int32_t bits;
  __builtin_memcpy(&bits, p, 4);
  return _mm_cvtsi32_si128(bits);
}
RC_SIMD I i_from_u8(const uint8_t* p) {
  const __m128i zero = _mm_setzero_si128();
  return _mm_unpacklo_epi16(_mm_unpacklo_epi8(load4(p), zero), zero);
}
RC_SIMD I i_from_s8(const int8_t* p) {
  const __m128i x = load4(p);
  const __m128i words = _mm_unpacklo_epi8(x, x);
  return _mm_srai_epi32(_mm_unpacklo_epi16(words, words), 24);
}
RC_SIMD I i_from_u16(const uint16_t* p) {
  return _mm_unpacklo_epi16(_mm_loadl_epi64((const __m128i*)p),
                            _mm_setzero_si128());
}
RC_SIMD int32_t i_sum(I x) {
  x = _mm_add_epi32(x, _mm_shuffle_epi32(x, 0x4e));
  return _mm_cvtsi128_si32(_mm_add_epi32(x, _mm_shuffle_epi32(x, 0xb1)));
}
RC_SIMD void i_store_s8(int8_t* p, const I* x) {
  _mm_storeu_si128((__m128i*)p, _mm_packs_epi16(_mm_packs_epi32(x[0], x[1]),
                                                _mm_packs_epi32(x[2], x[3])));
}
RC_SIMD void i_store_s16(int16_t* p, const I* x) {
  _mm_storeu_si128((__m128i*)p, _mm_packs_epi32(x[0], x[1]));
  _mm_storeu_si128((__m128i*)(p + 8), _mm_packs_epi32(x[2], x[3]));
}

// The exponent moves by a multiplication with 2^112, which also makes
// subnormal numbers right; infinity and NaN get their exponent by hand.
RC_SIMD F f_from_f16(const uint16_t* p) {
  const __m128i half = i_from_u16(p);
  const __m128i magnitude = _mm_and_si128(half, _mm_set1_epi32(0x7fff));
  const __m128i sign = _mm_slli_epi32(_mm_sub_epi32(half, magnitude), 16);
  const __m128i special =
      _mm_and_si128(_mm_cmpgt_epi32(magnitude, _mm_set1_epi32(0x7bff)),
                    _mm_set1_epi32(0x7f800000));
  const __m128 value =
      _mm_mul_ps(_mm_castsi128_ps(_mm_slli_epi32(magnitude, 13)),
                 _mm_castsi128_ps(_mm_set1_epi32((127 + 112) << 23)));
  return _mm_or_ps(value, _mm_castsi128_ps(_mm_or_si128(special, sign)));
}

RC_SIMD B b_load(const uint8_t* p) {
  return _mm_loadu_si128((const __m128i*)p);
}
RC_SIMD void b_store(uint8_t* p, B x) { _mm_storeu_si128((__m128i*)p, x); }
RC_SIMD B b_mask(B x, int mask) {
  return _mm_and_si128(x, _mm_set1_epi8((char)mask));
}
RC_SIMD B b_or(B a, B b) { return _mm_or_si128(a, b); }
RC_SIMD B b_zip_low(B a, B b) { return _mm_unpacklo_epi16(a, b); }
RC_SIMD B b_zip_high(B a, B b) { return _mm_unpackhi_epi16(a, b); }
RC_SIMD void b_store_parts(uint16_t* p, int64_t, B a, B b) {
  _mm_storeu_si128((__m128i*)p, a);
  _mm_storeu_si128((__m128i*)(p + 8), b);
}
template <int n>
RC_SIMD B b_shl(B x) {
  return _mm_slli_epi16(x, n);
}
template <int n>
RC_SIMD B b_shr(B x) {
  return _mm_srli_epi16(x, n);
}
RC_SIMD B b_flip(B x) { return _mm_xor_si128(x, _mm_set1_epi8((char)128)); }
RC_SIMD B b_cast(F x) { return _mm_castps_si128(x); }
template <int n>
RC_SIMD B byte_of(const B* x) {
  const __m128i mask = _mm_set1_epi32(255);
  __m128i y[4];
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) {
    y[i] = _mm_and_si128(_mm_srli_epi32(x[i], 8 * n), mask);
  }
  return _mm_packus_epi16(_mm_packs_epi32(y[0], y[1]),
                          _mm_packs_epi32(y[2], y[3]));
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
    // As signed numbers, so that packing saturates none.
    b_store(p + 8 * i,
            _mm_packs_epi32(_mm_srai_epi32(_mm_slli_epi32(x[i], 16), 16),
                            _mm_srai_epi32(_mm_slli_epi32(x[i + 1], 16), 16)));
    b_store(p + 32 + 8 * i, _mm_packs_epi32(_mm_srai_epi32(x[i], 16),
                                            _mm_srai_epi32(x[i + 1], 16)));
  }
}
RC_SIMD B b_lanes(uint32_t lanes, int byte) {
  const __m128i bits = _mm_setr_epi32(1, 2, 4, 8);
  const __m128i set = _mm_and_si128(_mm_set1_epi32((int32_t)lanes), bits);
  return b_mask(_mm_cmpeq_epi32(set, bits), byte);
}
RC_SIMD B b_lookup(B index, const uint8_t* table) {
  uint8_t bytes[16];
  b_store(bytes, index);
  for (int i = 0; i < 16; ++i) bytes[i] = table[bytes[i]];
  return b_load(bytes);
}

// The even and the odd columns, as 16-bit numbers.
struct Columns {
  __m128i low_even, low_odd, high_even, high_odd;
};
RC_SIMD Columns columns8(const int8_t* p) {
  const __m128i low = _mm_shuffle_epi32(load4(p), 0);
  const __m128i high = _mm_shuffle_epi32(load4(p + 4), 0);
  return {_mm_srai_epi16(_mm_slli_epi16(low, 8), 8), _mm_srai_epi16(low, 8),
          _mm_srai_epi16(_mm_slli_epi16(high, 8), 8), _mm_srai_epi16(high, 8)};
}

RC_SIMD B b_pairs(I a, I b) {
  return _mm_or_si128(_mm_and_si128(a, _mm_set1_epi32(0xffff)),
                      _mm_slli_epi32(b, 16));
}
using Columns2 = __m128i;
RC_SIMD Columns2 columns2(const int16_t* p) {
  return _mm_shuffle_epi32(load4(p), 0);
}
RC_SIMD I dot2(I sum, B w, Columns2 a) {
  return _mm_add_epi32(sum, _mm_madd_epi16(w, a));
}

template <bool wide>
RC_SIMD I dot8(I sum, B u0, B u1, const Columns& a) {
  const __m128i byte = _mm_set1_epi16(255);
  sum = i_add(sum, _mm_madd_epi16(_mm_and_si128(u0, byte), a.low_even));
  sum = i_add(sum, _mm_madd_epi16(_mm_srli_epi16(u0, 8), a.low_odd));
  sum = i_add(sum, _mm_madd_epi16(_mm_and_si128(u1, byte), a.high_even));
  return i_add(sum, _mm_madd_epi16(_mm_srli_epi16(u1, 8), a.high_odd));
}

}  // namespace rc::cpu::RC_CPU_LEVEL
