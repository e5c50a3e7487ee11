// The CBLAS library of the machine, found while the process runs. Any thread.
#pragma once

#include <cstdint>
#include <string>

#include "base/library.h"

namespace rc::blas {

// A product of row-major matrices, c = a b: a is [m, k] and c is [m, n]; b is
// [k, n] or, if `transposed`, [n, k]. Each has the distance of its rows in
// elements.
template <class T>
struct Product {
  int64_t m, n, k;
  const T* a;
  int64_t a_stride;
  const T* b;
  int64_t b_stride;
  bool transposed;
  T* c;
  int64_t c_stride;
  bool adds;  // c = c + a b; else c is only written
};

class Cblas {
 public:
  // Takes a library that was loaded by this name or path. Throws
  // RC_E_BACKEND_UNAVAILABLE if a function is missing or the results
  // are wrong.
  Cblas(rc::Library library, const std::string& name);

  // Computes a product on the calling thread alone, within a OneThread. Sizes
  // and strides are at most largest().
  void multiply(const Product<float>& product) const;
  void multiply(const Product<double>& product) const;

  // Whether its integers have 64 bits (ILP64).
  bool is_wide() const { return wide_; }
  int64_t largest() const { return wide_ ? INT64_MAX : INT32_MAX; }
  // "OpenBLAS 0.3.21", else the name by which it was loaded.
  const std::string& description() const { return description_; }
  // The processor whose kernels it chose, such as "Zen"; "" if it gives none.
  const std::string& processor() const { return processor_; }
  // The name by which it was loaded.
  const std::string& name() const { return name_; }
  // Whether a zero of a and a NaN or an infinity of b make a NaN, as in IEEE
  // arithmetic; libraries that skip zeros make a 0 of them.
  bool multiplies_zeros() const { return multiplies_zeros_; }
  // The number of threads that may call it at once.
  int most_callers() const { return most_callers_; }

 private:
  friend class OneThread;

  void find_thread_functions();
  void describe();
  void check_products();

  rc::Library library_;
  std::string name_;
  std::string description_;
  std::string processor_;
  void* sgemm_ = nullptr;
  void* dgemm_ = nullptr;
  bool wide_ = false;
  bool multiplies_zeros_ = true;
  int most_callers_ = INT32_MAX;
  // The threads of the process: OpenBLAS gives an int, BLIS a long.
  int (*get_threads_)() = nullptr;
  void (*set_threads_)(int) = nullptr;
  int64_t (*get_long_threads_)() = nullptr;
  void (*set_long_threads_)(int64_t) = nullptr;
  // The threads of the calling thread: libraries that use OpenMP, and MKL.
  int (*omp_get_threads_)() = nullptr;
  void (*omp_set_threads_)(int) = nullptr;
  int (*mkl_set_threads_)(int) = nullptr;
};

// Returns the library that RUNCIBLE_BLAS_LIBRARY names, else the first of those
// that are usual. It stays loaded to the end of the process. After a failure,
// which is thrown as RC_E_BACKEND_UNAVAILABLE, the next call tries again.
const Cblas& cblas();

// Keeps the library to the calling thread while one of these exists on it. The
// number of threads that a library has for the process is 1 as long as there is
// one on any thread, and then what it was before.
class OneThread {
 public:
  explicit OneThread(const Cblas& library);
  ~OneThread();
  OneThread(const OneThread&) = delete;
  OneThread& operator=(const OneThread&) = delete;

 private:
  const Cblas& library_;
  int omp_threads_ = 0;
  int mkl_threads_ = 0;
};

}  // namespace rc::blas
