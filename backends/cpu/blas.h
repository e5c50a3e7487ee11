// OpenBLAS, if it is on the machine: loaded when the first large product wants
// it, so that one library serves machines with and without it.
#pragma once

#include <cstdint>

namespace rc::cpu {

class Blas {
 public:
  // NULL if there is none. Thread-safe.
  static const Blas* find();

  // c = a b for a [m, k] and b [k, n] or, if transposed, [n, k]; row-major,
  // rows ldb and ldc elements apart. Uses at most `threads` threads of its own:
  // their number belongs to the whole process, so it is set for the call and
  // set back, and calls wait for each other.
  void multiply(const float* a, const float* b, float* c, int64_t m, int64_t n,
                int64_t k, int64_t ldb, int64_t ldc, bool transposed,
                int threads) const;

  // Whether a product is worth it, and its sizes are such as it takes.
  static bool suits(int64_t m, int64_t n, int64_t k);

 private:
  using Multiply = void (*)(int order, int transposed_a, int transposed_b,
                            int m, int n, int k, float alpha, const float* a,
                            int lda, const float* b, int ldb, float beta,
                            float* c, int ldc);
  Multiply multiply_ = nullptr;
  int (*threads_)() = nullptr;
  void (*set_threads_)(int) = nullptr;
};

}  // namespace rc::cpu
