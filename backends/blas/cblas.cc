#include "blas/cblas.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <string_view>
#include <utility>

#include "base/cat.h"
#include "base/error.h"
#include "base/words.h"

namespace rc::blas {
namespace {

// The numbers of cblas.h, which are the same in all libraries.
constexpr int kRowMajor = 101;
constexpr int kPlain = 111;
constexpr int kTransposed = 112;

// cblas_sgemm and cblas_dgemm of a library whose integers are Int.
template <class T, class Int>
using Gemm = void (*)(int order, int transposed_a, int transposed_b, Int m,
                      Int n, Int k, T alpha, const T* a, Int a_stride,
                      const T* b, Int b_stride, T beta, T* c, Int c_stride);

template <class Int, class T>
void call(void* gemm, const Product<T>& p) {
  reinterpret_cast<Gemm<T, Int>>(gemm)(
      kRowMajor, kPlain, p.transposed ? kTransposed : kPlain,
      static_cast<Int>(p.m), static_cast<Int>(p.n), static_cast<Int>(p.k), T{1},
      p.a, static_cast<Int>(p.a_stride), p.b, static_cast<Int>(p.b_stride),
      p.adds ? T{1} : T{0}, p.c, static_cast<Int>(p.c_stride));
}

// Whether integers have 64 bits: those of 32 ignore the upper half of this one,
// which is negative otherwise, so that there is nothing to add up.
bool has_wide_integers(void* ddot) {
  const auto dot = reinterpret_cast<double (*)(int64_t, const double*, int64_t,
                                               const double*, int64_t)>(ddot);
  const double one = 1;
  return dot(std::numeric_limits<int64_t>::min() | 1, &one, 1, &one, 1) == 0;
}

// [2, 3] times [3, 2], into c that is NaN.
template <class T>
bool is_right(const Cblas& library, bool transposed) {
  constexpr T kNan = std::numeric_limits<T>::quiet_NaN();
  const T a[] = {1, 2, 3, 4, 5, 6};
  const T b[] = {1, 2, 3, 4, 5, 6};
  T c[] = {kNan, kNan, kNan, kNan};
  const int64_t stride = transposed ? 3 : 2;
  library.multiply(
      Product<T>{2, 2, 3, a, 3, b, stride, transposed, c, 2, false});
  const T plain[] = {22, 28, 49, 64};
  const T turned[] = {14, 32, 32, 77};
  for (int i = 0; i < 4; ++i) {
    if (c[i] != (transposed ? turned[i] : plain[i])) return false;
  }
  return true;
}

template <class T>
bool multiplies_zero(const Cblas& library) {
  constexpr T kNan = std::numeric_limits<T>::quiet_NaN();
  for (const bool transposed : {false, true}) {
    const T zero[] = {0, 0};
    const T odd[] = {kNan, std::numeric_limits<T>::infinity()};
    T c[] = {0};
    const int64_t stride = transposed ? 2 : 1;
    library.multiply(
        Product<T>{1, 1, 2, zero, 2, odd, stride, transposed, c, 1, false});
    if (!std::isnan(c[0])) return false;
    library.multiply(
        Product<T>{1, 1, 2, odd, 2, zero, stride, transposed, c, 1, false});
    if (!std::isnan(c[0])) return false;
  }
  return true;
}

// The number behind "MAX_THREADS=" of what OpenBLAS says of itself.
int most_threads(std::string_view configuration) {
  constexpr std::string_view kKey = "MAX_THREADS=";
  const size_t at = configuration.find(kKey);
  if (at == configuration.npos) return INT32_MAX;
  std::string_view rest = configuration.substr(at + kKey.size());
  return std::max(1, take_number<int>(rest).value_or(INT32_MAX));
}

}  // namespace

Cblas::Cblas(rc::Library library, const std::string& name)
    : library_(std::move(library)), name_(name) {
  const auto need = [&](const char* function) {
    void* found = library_.find(function);
    if (found == nullptr) {
      fail(RC_E_BACKEND_UNAVAILABLE, "the BLAS library ", name, " has no ",
           function,
           "; a library with the functions of CBLAS is needed, whose names "
           "have no suffix such as 64_");
    }
    return found;
  };
  sgemm_ = need("cblas_sgemm");
  dgemm_ = need("cblas_dgemm");
  wide_ = has_wide_integers(need("cblas_ddot"));
  find_thread_functions();
  describe();
  check_products();
  library_.keep();  // it may have threads
}

void Cblas::find_thread_functions() {
  if (!library_.find(get_threads_, "openblas_get_num_threads") ||
      !library_.find(set_threads_, "openblas_set_num_threads")) {
    get_threads_ = nullptr;
  }
  if (!library_.find(get_long_threads_, "bli_thread_get_num_threads") ||
      !library_.find(set_long_threads_, "bli_thread_set_num_threads")) {
    get_long_threads_ = nullptr;
  }
  if (!library_.find(omp_get_threads_, "omp_get_max_threads") ||
      !library_.find(omp_set_threads_, "omp_set_num_threads")) {
    omp_get_threads_ = nullptr;
  }
  library_.find(mkl_set_threads_, "MKL_Set_Num_Threads_Local");
}

void Cblas::describe() {
  description_ = name_;
  char* (*text)() = nullptr;
  if (library_.find(text, "openblas_get_config")) {
    // "OpenBLAS 0.3.21 NO_LAPACKE DYNAMIC_ARCH NO_AFFINITY Zen MAX_THREADS=64"
    const std::string_view configuration = text();
    std::string_view rest = configuration;
    const auto product = take_word(rest);
    const auto version = take_word(rest);
    if (product && version) description_ = cat(*product, " ", *version);
    most_callers_ = most_threads(configuration);
    if (library_.find(text, "openblas_get_corename")) processor_ = text();
  } else if (library_.find(text, "bli_info_get_version_str")) {
    description_ = cat("BLIS ", text());
  } else if (mkl_set_threads_ != nullptr) {
    description_ = "MKL";
  }
}

void Cblas::check_products() {
  const OneThread alone(*this);
  for (const bool transposed : {false, true}) {
    if (!is_right<float>(*this, transposed) ||
        !is_right<double>(*this, transposed)) {
      fail(RC_E_BACKEND_UNAVAILABLE, "the BLAS library ", name_,
           " computes a small product wrongly; it may have been built for "
           "other integers, or for another processor");
    }
  }
  multiplies_zeros_ =
      multiplies_zero<float>(*this) && multiplies_zero<double>(*this);
}

void Cblas::multiply(const Product<float>& product) const {
  if (wide_) {
    call<int64_t>(sgemm_, product);
  } else {
    call<int32_t>(sgemm_, product);
  }
}

void Cblas::multiply(const Product<double>& product) const {
  if (wide_) {
    call<int64_t>(dgemm_, product);
  } else {
    call<int32_t>(dgemm_, product);
  }
}

}  // namespace rc::blas
