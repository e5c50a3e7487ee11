// Vectors of OpenCL C, which are two halves, and what kernels do with them and
// with memory; a part of prelude_host.h.

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

template <int N>
inline Vector_<int, N> operator!(Vector_<int, N> a) {
  return a == 0;
}

// Selects the elements of `yes` where the sign of the condition is set.
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
