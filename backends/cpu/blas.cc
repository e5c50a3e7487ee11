#include "cpu/blas.h"

#include <dlfcn.h>

#include <algorithm>
#include <mutex>

namespace rc::cpu {
namespace {

// Of cblas.h.
constexpr int kRowMajor = 101;
constexpr int kPlain = 111;
constexpr int kTransposed = 112;

// Below these the own kernels are as fast, and keep their promises.
constexpr int64_t kLeastSide = 16;
constexpr int64_t kLeastProducts = int64_t{1} << 21;

template <class Function>
bool look_up(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  return function != nullptr;
}

}  // namespace

const Blas* Blas::find() {
  static const Blas blas = [] {
    Blas found;
    void* library = dlopen("libopenblas.so.0", RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) return found;
    const bool complete =
        look_up(library, "openblas_get_num_threads", found.threads_) &&
        look_up(library, "openblas_set_num_threads", found.set_threads_) &&
        look_up(library, "cblas_sgemm", found.multiply_);
    // It stays loaded: it has threads.
    if (!complete) found.multiply_ = nullptr;
    return found;
  }();
  return blas.multiply_ == nullptr ? nullptr : &blas;
}

bool Blas::suits(int64_t m, int64_t n, int64_t k) {
  constexpr int64_t kMost = INT32_MAX;
  if (std::min({m, n, k}) < kLeastSide || std::max({m, n, k}) > kMost) {
    return false;
  }
  // m * n is below 2^62.
  return m * n >= kLeastProducts / k;
}

void Blas::multiply(const float* a, const float* b, float* c, int64_t m,
                    int64_t n, int64_t k, int64_t ldb, int64_t ldc,
                    bool transposed, int threads) const {
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  const int before = threads_();
  if (threads < before) set_threads_(threads);
  multiply_(kRowMajor, kPlain, transposed ? kTransposed : kPlain,
            static_cast<int>(m), static_cast<int>(n), static_cast<int>(k), 1.0f,
            a, static_cast<int>(k), b, static_cast<int>(ldb), 0.0f, c,
            static_cast<int>(ldc));
  if (threads < before) set_threads_(before);
}

}  // namespace rc::cpu
