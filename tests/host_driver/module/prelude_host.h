// What makes C++ the language of the kernels: what prelude_opencl.cl defines
// and OpenCL C has by itself. Kernels and this are within a namespace of their
// own.
//
// `local` is not told from other memory. What a group shares is static, which
// is right as its work-items take turns on one thread.

#define kernel
#define global
#define local
#define constant const

#define INLINE static inline
#define KERNEL(name) static void name
#define INPUT(name) const uchar *name##_memory, ulong name##_at
#define OUTPUT(name) uchar *name##_memory, ulong name##_at
#define OPEN_INPUT(type, name) \
  const type* name = (const type*)(name##_memory + name##_at);
#define OPEN_OUTPUT(type, name) type* name = (type*)(name##_memory + name##_at);
#define SHARED static
#define VECTOR(type) type

typedef unsigned char uchar;
typedef unsigned short ushort;
typedef unsigned int uint;
typedef unsigned long ulong;
typedef ulong size_t;

#define INFINITY __builtin_inff()
#define NAN __builtin_nanf("")

// The work-item.

static HostWorkItem* the_item;

inline size_t get_group_id(int i) { return the_item->group[i]; }
inline size_t get_num_groups(int i) { return the_item->groups[i]; }
inline size_t get_local_size(int i) { return i == 0 ? the_item->items : 1; }
inline size_t get_local_id(int i) { return i == 0 ? the_item->item : 0; }
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

// Vectors, as two halves.

template <class T, int N>
struct Vector_;
template <class T, int N>
struct Half_ {
  typedef Vector_<T, N / 2> Type;
};
template <class T>
struct Half_<T, 2> {
  typedef T Type;
};
template <class T>
struct Same_ {
  typedef T Type;
};

template <class T, int N>
struct Vector_ {
  typename Half_<T, N>::Type lo, hi;

  Vector_() = default;
  Vector_(T all) {
    for (int i = 0; i < N; ++i) data()[i] = all;
  }
  template <class... Rest>
  Vector_(T first, T second, Rest... rest) {
    static_assert(sizeof...(rest) + 2 == N);
    const T all[] = {first, second, T(rest)...};
    for (int i = 0; i < N; ++i) data()[i] = all[i];
  }
  T* data() { return (T*)this; }
  const T* data() const { return (const T*)this; }
};

#define VECTORS_(T)           \
  typedef Vector_<T, 2> T##2; \
  typedef Vector_<T, 4> T##4; \
  typedef Vector_<T, 8> T##8; \
  typedef Vector_<T, 16> T##16;
VECTORS_(char)
VECTORS_(uchar)
VECTORS_(short)
VECTORS_(ushort)
VECTORS_(int)
VECTORS_(uint)
VECTORS_(long)
VECTORS_(ulong)
VECTORS_(float)
VECTORS_(double)

// An operator of two vectors, or of one and a number.
#define OPERATOR_(R, op, one)                                          \
  template <class T, int N>                                            \
  inline Vector_<R, N> operator op(Vector_<T, N> a, Vector_<T, N> b) { \
    Vector_<R, N> result;                                              \
    const T *x = a.data(), *y = b.data();                              \
    for (int i = 0; i < N; ++i) result.data()[i] = one;                \
    return result;                                                     \
  }                                                                    \
  template <class T, int N>                                            \
  inline Vector_<R, N> operator op(Vector_<T, N> a,                    \
                                   typename Same_<T>::Type b) {        \
    return a op Vector_<T, N>(b);                                      \
  }                                                                    \
  template <class T, int N>                                            \
  inline Vector_<R, N> operator op(typename Same_<T>::Type a,          \
                                   Vector_<T, N> b) {                  \
    return Vector_<T, N>(a) op b;                                      \
  }
#define CALCULATION_(op)                                        \
  OPERATOR_(T, op, (T)(x[i] op y[i]))                           \
  template <class T, int N, class U>                            \
  inline Vector_<T, N>& operator op##=(Vector_<T, N>& a, U b) { \
    return a = a op b;                                          \
  }
#define COMPARISON_(op) OPERATOR_(int, op, x[i] op y[i] ? -1 : 0)
CALCULATION_(+)
CALCULATION_(-)
CALCULATION_(*)
CALCULATION_(/)
CALCULATION_(%)
CALCULATION_(&)
CALCULATION_(|)
CALCULATION_(^)
CALCULATION_(<<)
CALCULATION_(>>)
COMPARISON_(==)
COMPARISON_(!=)
COMPARISON_(<)
COMPARISON_(>)
COMPARISON_(<=)
COMPARISON_(>=)

template <class T, int N>
inline Vector_<T, N> operator-(Vector_<T, N> a) {
  for (int i = 0; i < N; ++i) a.data()[i] = -a.data()[i];
  return a;
}

// Those of `yes` where the sign of the condition is set.
template <class T, int N, class C>
inline Vector_<T, N> select(Vector_<T, N> no, Vector_<T, N> yes,
                            Vector_<C, N> condition) {
  for (int i = 0; i < N; ++i) {
    if (condition.data()[i] < 0) no.data()[i] = yes.data()[i];
  }
  return no;
}
template <class T, class C>
inline T select(T no, T yes, C condition) {
  return condition ? yes : no;
}

// Memory.

template <int N, class T>
inline Vector_<T, N> load_(ulong at, const T* p) {
  Vector_<T, N> v;
  for (int i = 0; i < N; ++i) v.data()[i] = p[N * at + i];
  return v;
}
template <int N, class T>
inline void store_(Vector_<T, N> v, ulong at, T* p) {
  for (int i = 0; i < N; ++i) p[N * at + i] = v.data()[i];
}
#define LOAD_AND_STORE_(n)                                 \
  template <class T>                                       \
  inline Vector_<T, n> vload##n(ulong at, const T* p) {    \
    return load_<n>(at, p);                                \
  }                                                        \
  template <class T>                                       \
  inline void vstore##n(Vector_<T, n> v, ulong at, T* p) { \
    store_(v, at, p);                                      \
  }
LOAD_AND_STORE_(2)
LOAD_AND_STORE_(4)
LOAD_AND_STORE_(8)
LOAD_AND_STORE_(16)

// Conversions.

template <class T, int N, class U>
inline Vector_<T, N> convert_(Vector_<U, N> v) {
  Vector_<T, N> result;
  for (int i = 0; i < N; ++i) result.data()[i] = (T)v.data()[i];
  return result;
}
#define CONVERT_AND_AS_N_(T, n)                          \
  template <class U>                                     \
  inline Vector_<T, n> convert_##T##n(Vector_<U, n> v) { \
    return convert_<T>(v);                               \
  }                                                      \
  template <class U>                                     \
  inline Vector_<T, n> as_##T##n(Vector_<U, n> v) {      \
    return __builtin_bit_cast(T##n, v);                  \
  }
#define CONVERT_AND_AS_(T)           \
  template <class U>                 \
  inline T convert_##T(U v) {        \
    return (T)v;                     \
  }                                  \
  template <class U>                 \
  inline T as_##T(U v) {             \
    return __builtin_bit_cast(T, v); \
  }                                  \
  CONVERT_AND_AS_N_(T, 2)            \
  CONVERT_AND_AS_N_(T, 4)            \
  CONVERT_AND_AS_N_(T, 8)            \
  CONVERT_AND_AS_N_(T, 16)
CONVERT_AND_AS_(char)
CONVERT_AND_AS_(uchar)
CONVERT_AND_AS_(short)
CONVERT_AND_AS_(ushort)
CONVERT_AND_AS_(int)
CONVERT_AND_AS_(uint)
CONVERT_AND_AS_(long)
CONVERT_AND_AS_(ulong)
CONVERT_AND_AS_(float)
CONVERT_AND_AS_(double)

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
inline void take_(ulong word, T& argument) {
  argument = (T)word;
}
inline void take_(ulong word, float& argument) {
  argument = as_float((uint)word);
}
template <class T>
inline T next_(const ulong*& words) {
  T argument;
  take_(*words++, argument);
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
  if (count != (int)sizeof...(P)) return sizeof...(P);
  the_item = item;
  Call_<P...>{function, next_<P>(arguments)...};
  return count;
}
