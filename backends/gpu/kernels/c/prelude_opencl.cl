// Makes OpenCL C 1.2 the language of the kernels. A driver's compiler gets
// this, or the prelude of another interface, before the file of a kernel.
//
// A prelude defines, if the language does not,
//   the macros below;
//   the words of OpenCL C that kernels use: kernel, global, local, uchar to
//   ulong, half behind pointers, and, where LANES is not 1, vectors with lo and
//   hi; float16 always (attend_head.cl);
//   its functions: of the place of a work-item, barrier, vload and vstore, also
//   of half, convert_, as_, select, clamp, and those of numbers.
// Sums of products are not contracted unless a kernel says so (MULTIPLY_ADD).
#pragma OPENCL FP_CONTRACT OFF
#if defined(TYPE_F64)
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#endif

// Drivers that don't inline by themselves keep arrays and pointers to them in
// memory.
#define INLINE static inline __attribute__((always_inline))

// The head of a kernel: its buffers, and their places with the parameters; see
// common.cl.
#define KERNEL(name)                                                   \
  CALL kernel __attribute__((reqd_work_group_size(GROUP_ITEMS, 1, 1))) \
  void name(BUFFERS(INPUT_MEMORY, OUTPUT_MEMORY) const Call call)
#define INPUT_MEMORY(type, name) const global uchar *name##_memory,
#define OUTPUT_MEMORY(type, name) global uchar *name##_memory,

// Makes a buffer a pointer of that name. Where the interface binds places within
// buffers they are not added.
#define OPEN_INPUT(type, name) \
  const global type* name =    \
      (const global type*)(name##_memory + call.name##_at);
#define OPEN_OUTPUT(type, name) \
  global type* name = (global type*)(name##_memory + call.name##_at);

// Before a variable of a kernel that the work-items of a group share; local is
// the word for what pointers to it point to.
#define SHARED local

// Puts a value where 0 was. Whether it is this work-item that did; several may
// try at once.
#define CLAIM(p, value) (atomic_cmpxchg(p, 0u, value) == 0u)

// Before a table of the file.
#define CONSTANT constant

// A vector of those elements: VECTOR(int4)(0, 1, 2, 3).
#define VECTOR(type) (type)
