// The functions that devices of streams have in common; see prelude_streams.cl.

// Numbers of IEEE binary16, which are behind pointers alone.

BUILT_IN float vload_half(ulong at, const global half* p) {
  return half_of_bits(((const global ushort*)p)[at]);
}
BUILT_IN float vload_half(ulong at, const local half* p) {
  return half_of_bits(((const local ushort*)p)[at]);
}
BUILT_IN float vload_half(ulong at, const half* p) {
  return half_of_bits(((const ushort*)p)[at]);
}
BUILT_IN void vstore_half_rte(float value, ulong at, global half* p) {
  ((global ushort*)p)[at] = bits_of_half(value);
}
BUILT_IN void vstore_half_rte(float value, ulong at, local half* p) {
  ((local ushort*)p)[at] = bits_of_half(value);
}
BUILT_IN void vstore_half_rte(float value, ulong at, half* p) {
  ((ushort*)p)[at] = bits_of_half(value);
}

// Functions of numbers.

INLINE float as_float(uint bits) { return __builtin_astype(bits, float); }
INLINE uint as_uint(float x) { return __builtin_astype(x, uint); }
#define convert_float(x) ((float)(x))
#define convert_int(x) ((int)(x))
#define convert_char(x) ((char)(x))

#define ORDERED_(type)                                          \
  BUILT_IN type min(type a, type b) { return b < a ? b : a; }   \
  BUILT_IN type max(type a, type b) { return a < b ? b : a; }   \
  BUILT_IN type clamp(type x, type least, type most) {          \
    return min(max(x, least), most);                            \
  }
ORDERED_(int)
ORDERED_(uint)
ORDERED_(long)
ORDERED_(ulong)
ORDERED_(float)

#define fabs(x) __builtin_fabsf(x)
#define fma(a, b, c) __builtin_fmaf(a, b, c)
#define fmax(a, b) __builtin_fmaxf(a, b)
#define fmin(a, b) __builtin_fminf(a, b)
#define rint(x) __builtin_rintf(x)
#define sqrt(x) __builtin_sqrtf(x)
INLINE int isnan(float x) { return x != x; }

#include "math_streams.cl"
