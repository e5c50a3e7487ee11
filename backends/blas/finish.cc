// Bias and function of the numbers of a product, while they are in the caches.
#include <cmath>
#include <numbers>

#include "base/error.h"
#include "blas/ops.h"

namespace rc::blas {
namespace {

template <class T>
T apply(int32_t function, T x) {
  switch (function) {
    case RC_FUNCTION_RELU:
      return x < 0 ? T{0} : x;  // a NaN stays
    case RC_FUNCTION_SIGMOID:
      return 1 / (1 + std::exp(-x));
    case RC_FUNCTION_TANH:
      return std::tanh(x);
    case RC_FUNCTION_SILU:
      return x / (1 + std::exp(-x));
    case RC_FUNCTION_GELU:
      // 1 + erf(v) would cancel far below 0.
      return T{0.5} * x * std::erfc(-x / std::numbers::sqrt2_v<T>);
    case RC_FUNCTION_GELU_TANH: {
      const T v = std::sqrt(2 * std::numbers::inv_pi_v<T>) *
                  (x + T(0.044715) * x * x * x);
      // 1 + tanh(v), without its cancelling.
      return x / (1 + std::exp(-2 * v));
    }
    case RC_FUNCTION_GELU_QUICK:
      return x / (1 + std::exp(T(-1.702) * x));
    default:
      return x;
  }
}

template <class T>
void finish_numbers(T* numbers, const T* bias, int32_t function,
                    int64_t count) {
  if (bias != nullptr) {
    for (int64_t i = 0; i < count; ++i) numbers[i] += bias[i];
  }
  if (function == RC_FUNCTION_NONE) return;
  for (int64_t i = 0; i < count; ++i) numbers[i] = apply(function, numbers[i]);
}

}  // namespace

void finish(float* numbers, const float* bias, int32_t function,
            int64_t count) {
  finish_numbers(numbers, bias, function, count);
}

void finish(double* numbers, const double* bias, int32_t function,
            int64_t count) {
  finish_numbers(numbers, bias, function, count);
}

}  // namespace rc::blas
