// The prelude that makes C++ the language of the kernels: definitions of
// prelude_opencl.cl and built-in functions of OpenCL C. Kernels and this file
// are within a separate namespace.
//
// `local` is not distinguished from other memory. Memory shared by a group is
// static, which is right as its work-items take turns on one thread.

#define kernel
#define global
#define local
#define constant const
// An attribute that Clang knows, but takes in OpenCL C alone.
#define reqd_work_group_size(x, y, z)

#define INLINE static inline
#define KERNEL(name) \
  CALL static void name(BUFFERS(INPUT_MEMORY, OUTPUT_MEMORY) const Call call)
#define INPUT_MEMORY(type, name) const uchar *name##_memory,
#define OUTPUT_MEMORY(type, name) uchar *name##_memory,
#define OPEN_INPUT(type, name) \
  const type* name = (const type*)(name##_memory + call.name##_at);
#define OPEN_OUTPUT(type, name) \
  type* name = (type*)(name##_memory + call.name##_at);
#define SHARED static
#define CLAIM(p, value) (*(p) == 0 && (*(p) = (value), true))
#define CONSTANT static const
#define VECTOR(type) type

typedef unsigned char uchar;
typedef unsigned short ushort;
typedef unsigned int uint;
typedef unsigned long ulong;
typedef ulong size_t;

#define INFINITY __builtin_inff()
#define NAN __builtin_nanf("")
#define FLT_MAX __FLT_MAX__
#define CHAR_MAX __SCHAR_MAX__
#define CHAR_MIN (-CHAR_MAX - 1)
#define SHRT_MAX __SHRT_MAX__
#define SHRT_MIN (-SHRT_MAX - 1)
#define INT_MAX __INT_MAX__
#define INT_MIN (-INT_MAX - 1)
#define LONG_MAX __LONG_MAX__
#define LONG_MIN (-LONG_MAX - 1)

// The work-item.

static HostWorkItem* the_item;

inline size_t get_group_id(int i) { return the_item->group[i]; }
inline size_t get_num_groups(int i) { return the_item->groups[i]; }
inline size_t get_local_size(int i) { return the_item->items[i]; }
inline size_t get_local_id(int i) { return the_item->item[i]; }
inline size_t get_global_size(int i) {
  return get_num_groups(i) * get_local_size(i);
}
inline size_t get_global_id(int i) {
  const size_t first = i == 1 ? the_item->first_row : 0;
  return first + get_group_id(i) * get_local_size(i) + get_local_id(i);
}

enum { CLK_LOCAL_MEM_FENCE = 1, CLK_GLOBAL_MEM_FENCE = 2 };
inline void barrier(int, int line = __builtin_LINE()) {
  HostWorkItem* item = the_item;
  item->wait_at_barrier(item, line);
  the_item = item;
}

#include "prelude_vectors.h"

// IEEE binary16, behind pointers alone.
struct half {
  ushort bits;
};

inline float vload_half(ulong at, const half* p) {
  const uint bits = p[at].bits;
  const uint sign = (bits & 0x8000) << 16;
  const uint magnitude = bits & 0x7FFF;
  if (magnitude < 0x0400) {
    const float tiny = (float)magnitude * 0x1p-24f;
    return sign ? -tiny : tiny;
  }
  const uint bias = magnitude >= 0x7C00 ? 224u << 23 : 112u << 23;
  return as_float(sign | ((magnitude << 13) + bias));
}

// To the nearest, ties to even.
inline void vstore_half_rte(float value, ulong at, half* p) {
  const uint bits = as_uint(value);
  const uint sign = bits >> 16 & 0x8000;
  const uint magnitude = bits & 0x7FFFFFFF;
  uint result;
  if (magnitude > 0x7F800000) {
    result = 0x7E00;
  } else if (magnitude >= 0x477FF000) {
    result = 0x7C00;
  } else if (magnitude < 0x38800000) {
    // The sum's last bit is worth 2^-24, as that of subnormal numbers.
    result = as_uint(as_float(magnitude) + 0.5f) - as_uint(0.5f);
  } else {
    const uint odd = magnitude >> 13 & 1;
    result = (magnitude - (112u << 23) + 0xFFF + odd) >> 13;
  }
  p[at].bits = (ushort)(sign | result);
}

// Functions of numbers, and of vectors of them.

template <class T>
inline T min(T a, T b) {
  return b < a ? b : a;
}
template <class T>
inline T max(T a, T b) {
  return a < b ? b : a;
}
template <class T>
inline T clamp(T x, T least, T most) {
  return min(max(x, least), most);
}

#define FUNCTION_(name)                                          \
  inline float name(float x) { return __builtin_##name##f(x); }  \
  template <int N>                                               \
  inline Vector_<float, N> name(Vector_<float, N> x) {           \
    for (int i = 0; i < N; ++i) x.data()[i] = name(x.data()[i]); \
    return x;                                                    \
  }
FUNCTION_(ceil)
FUNCTION_(cos)
FUNCTION_(erf)
FUNCTION_(erfc)
FUNCTION_(exp)
FUNCTION_(exp2)
FUNCTION_(fabs)
FUNCTION_(floor)
FUNCTION_(log)
FUNCTION_(log1p)
FUNCTION_(log2)
FUNCTION_(rint)
FUNCTION_(round)
FUNCTION_(sin)
FUNCTION_(sqrt)
FUNCTION_(tanh)
FUNCTION_(trunc)

#define FUNCTION_OF_2_(name)                                                \
  inline float name(float x, float y) { return __builtin_##name##f(x, y); } \
  template <int N>                                                          \
  inline Vector_<float, N> name(Vector_<float, N> x, Vector_<float, N> y) { \
    for (int i = 0; i < N; ++i) {                                           \
      x.data()[i] = name(x.data()[i], y.data()[i]);                         \
    }                                                                       \
    return x;                                                               \
  }
FUNCTION_OF_2_(fmax)
FUNCTION_OF_2_(fmin)
FUNCTION_OF_2_(pow)

inline float fma(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
template <int N>
inline Vector_<float, N> fma(Vector_<float, N> a, Vector_<float, N> b,
                             Vector_<float, N> c) {
  for (int i = 0; i < N; ++i) {
    a.data()[i] = fma(a.data()[i], b.data()[i], c.data()[i]);
  }
  return a;
}

inline int isnan(float x) { return x != x; }
template <int N>
inline Vector_<int, N> isnan(Vector_<float, N> x) {
  return x != x;
}

// The call of a kernel with words as arguments; see HostKernel.

template <class T>
constexpr int words_of_ = (sizeof(T) + sizeof(ulong) - 1) / sizeof(ulong);
template <class T>
inline T next_(const ulong*& words) {
  T argument;
  __builtin_memcpy(&argument, words, sizeof argument);
  words += words_of_<T>;
  return argument;
}
// Arguments in braces are evaluated in their order.
template <class... P>
struct Call_ {
  Call_(void (*function)(P...), P... arguments) { function(arguments...); }
};
template <class... P>
inline int call_(void (*function)(P...), HostWorkItem* item,
                 const ulong* arguments, int count) {
  constexpr int wanted = (words_of_<P> + ...);
  if (count != wanted) return wanted;
  the_item = item;
  Call_<P...>{function, next_<P>(arguments)...};
  return count;
}
