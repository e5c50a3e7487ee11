// The prelude that makes Clang's OpenCL C, compiled for amdgcn without the header
// of the language and without libraries, the language of the kernels; see
// prelude_opencl.cl. (Another that comes first takes its place.)
#ifndef KERNEL

#pragma OPENCL FP_CONTRACT OFF
#pragma OPENCL EXTENSION cl_khr_fp16 : enable

#define GROUP_SIZE __attribute__((reqd_work_group_size(GROUP_ITEMS, 1, 1)))
#include "prelude_streams.cl"

// The work-item. Groups have one dimension.

INLINE uint get_group_id(int i) {
  return i == 0   ? __builtin_amdgcn_workgroup_id_x()
         : i == 1 ? __builtin_amdgcn_workgroup_id_y()
                  : __builtin_amdgcn_workgroup_id_z();
}
// The packet of a dispatch says how many items it has: hsa_kernel_dispatch_packet_t
// of the HSA Runtime Programmer's Reference Manual, 1.2.
INLINE uint get_num_groups(int i) {
  const constant uint* const packet =
      (const constant uint*)__builtin_amdgcn_dispatch_ptr();
  return packet[3 + i] / (i == 0 ? GROUP_ITEMS : 1);
}
INLINE uint get_local_id(int i) {
  return i == 0 ? __builtin_amdgcn_workitem_id_x() : 0;
}

#define CLK_LOCAL_MEM_FENCE 1
INLINE void meet(void) {
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
  __builtin_amdgcn_s_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}
#define barrier(fence) meet()

INLINE bool claim(global uint* p, uint value) {
  uint before = 0;
  return __atomic_compare_exchange_n(p, &before, value, false, __ATOMIC_RELAXED,
                                     __ATOMIC_RELAXED);
}
#define CLAIM(p, value) claim(p, value)

INLINE float half_of_bits(ushort bits) {
  return (float)__builtin_astype(bits, half);
}
INLINE ushort bits_of_half(float value) {
  return __builtin_astype((half)value, ushort);
}

// Items of a half of a wave, or of a wave that has no more, exchange numbers: see
// group.cl.

#define SHUFFLED 32
INLINE float shuffle_xor(float v, int mask) {
  const int lane =
      __builtin_amdgcn_mbcnt_hi(~0u, __builtin_amdgcn_mbcnt_lo(~0u, 0u));
  return __builtin_astype(
      __builtin_amdgcn_ds_bpermute((lane ^ mask) * 4,
                                   __builtin_astype(v, int)),
      float);
}
#define SHUFFLE_XOR(v, mask) shuffle_xor(v, mask)

#include "functions_streams.cl"
#endif
