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

// The size of groups is stated once it is known.
#define GROUP_SIZE
#include "prelude_streams.cl"

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

INLINE float half_of_bits(ushort bits) {
  float value;
  __asm__("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(bits));
  return value;
}
INLINE ushort bits_of_half(float value) {
  ushort bits;
  __asm__("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(value));
  return bits;
}

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

#include "functions_streams.cl"
#ifdef TENSOR_CORES
#include "matrices_ptx.cl"
#endif
