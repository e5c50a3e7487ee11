// The part of a prelude that devices of streams have in common: it makes Clang's
// OpenCL C, compiled without the header of the language, the language of the
// kernels; see prelude_opencl.cl.
//
// A prelude defines GROUP_SIZE, the attribute for the size of groups, and includes
// this; then it defines get_group_id, get_num_groups, get_local_id, barrier, CLAIM,
// half_of_bits and bits_of_half, and includes functions_streams.cl.

#define INLINE static inline __attribute__((always_inline))
#define BUILT_IN static inline __attribute__((always_inline, overloadable))

// The last parameter is the first block of rows: grids begin at 0.
#define KERNEL(name)                                                  \
  CALL kernel GROUP_SIZE void name(                                   \
      BUFFERS(INPUT_MEMORY, OUTPUT_MEMORY) const Call call,           \
      const uint first_block)
// Of dimension 1, of rows, where a kernel's parameters are at hand.
#define get_global_id(i) (first_block + get_group_id(i))
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
