// The prelude that makes Clang's OpenCL C, compiled for nvptx64 without the
// header of the language, the language of the kernels; see prelude_opencl.cl.
//
// A kernel is compiled once for many values of its open constants, those that
// decide no text and no array (see cuda/variants.h). They are defined as
// OPEN_CONSTANT(NAME), which leaves the words RC_OPEN_NAME in the PTX; the
// backend replaces them by numbers before the driver compiles it. Arrays that
// depend on them have room for the most.

#define OPEN_CONSTANT(name)                                         \
  ({                                                                \
    int open_;                                                      \
    __asm__("mov.b32 %0, RC_OPEN_" #name ";" : "=r"(open_));        \
    open_;                                                          \
  })

#define INLINE static inline __attribute__((always_inline))
#define BUILT_IN static inline __attribute__((always_inline, overloadable))

// The last parameter is the first block of rows: grids begin at 0.
#define KERNEL(name)                               \
  CALL kernel void name(BUFFERS(INPUT_MEMORY, OUTPUT_MEMORY) const Call call, \
                        const uint first_block)
#define INPUT_MEMORY(type, name) const global uchar *name##_memory,
#define OUTPUT_MEMORY(type, name) global uchar *name##_memory,
#define OPEN_INPUT(type, name) \
  const global type* name =    \
      (const global type*)(name##_memory + call.name##_at);
#define OPEN_OUTPUT(type, name) \
  global type* name = (global type*)(name##_memory + call.name##_at);
// Matrices are read from there in units of 32 bytes.
#define SHARED local __attribute__((aligned(32)))
#define CONSTANT constant
#define UNROLL _Pragma("unroll")
#define VECTOR(type) (type)

typedef unsigned char uchar;
typedef unsigned short ushort;
typedef unsigned int uint;
typedef unsigned long ulong;
typedef float float16 __attribute__((ext_vector_type(16)));

#define INFINITY __builtin_inff()
#define FLT_MAX __FLT_MAX__
#define CHAR_MAX __SCHAR_MAX__
#define CHAR_MIN (-CHAR_MAX - 1)
#define SHRT_MAX __SHRT_MAX__
#define SHRT_MIN (-SHRT_MAX - 1)
#define INT_MAX __INT_MAX__
#define INT_MIN (-INT_MAX - 1)
#define LONG_MAX __LONG_MAX__
#define LONG_MIN (-LONG_MAX - 1)

// The work-item. Groups have one dimension.

INLINE uint get_group_id(int i) {
  return i == 0   ? __nvvm_read_ptx_sreg_ctaid_x()
         : i == 1 ? __nvvm_read_ptx_sreg_ctaid_y()
                  : __nvvm_read_ptx_sreg_ctaid_z();
}
INLINE uint get_num_groups(int i) {
  return i == 0   ? __nvvm_read_ptx_sreg_nctaid_x()
         : i == 1 ? __nvvm_read_ptx_sreg_nctaid_y()
                  : __nvvm_read_ptx_sreg_nctaid_z();
}
INLINE uint get_local_id(int i) {
  return i == 0 ? __nvvm_read_ptx_sreg_tid_x() : 0;
}
// Of dimension 1, of rows, where a kernel's parameters are at hand.
#define get_global_id(i) (first_block + get_group_id(i))

#define CLK_LOCAL_MEM_FENCE 1
#define barrier(fence) __syncthreads()

INLINE bool claim(global uint* p, uint value) {
  uint before;
  __asm__ volatile("atom.global.cas.b32 %0, [%1], 0, %2;"
                   : "=r"(before)
                   : "l"(p), "r"(value)
                   : "memory");
  return before == 0;
}
#define CLAIM(p, value) claim(p, value)

// IEEE binary16, behind pointers alone.

BUILT_IN float half_of_bits(ushort bits) {
  float value;
  __asm__("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(bits));
  return value;
}
INLINE ushort bits_of_half(float value) {
  ushort bits;
  __asm__("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(value));
  return bits;
}
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

// Items of a warp exchange numbers: see group.cl.

#define SHUFFLED 32
INLINE float shuffle_xor(float v, int mask) {
  float other;
  __asm__ volatile("shfl.sync.bfly.b32 %0, %1, %2, 31, -1;"
                   : "=f"(other)
                   : "f"(v), "r"(mask));
  return other;
}
#define SHUFFLE_XOR(v, mask) shuffle_xor(v, mask)

#include "math_ptx.cl"
#ifdef TENSOR_CORES
#include "matrices_ptx.cl"
#endif
