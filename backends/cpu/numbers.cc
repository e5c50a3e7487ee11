#include "cpu/numbers.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/error.h"
#include "tensor/dtype.h"

namespace rc::cpu::numbers {
namespace {

// Halves are decoded, computed and rounded so many at a time.
constexpr int64_t kBlock = 512;

template <class Function>
void map(const double* x, int64_t n, double* y, Function function) {
  for (int64_t i = 0; i < n; ++i) y[i] = function(x[i]);
}

// A step is 1, or 0 for one number that is repeated.
template <class Function>
void pairs(const double* const* at, const int64_t* steps, int64_t n, double* y,
           Function function) {
  for (int64_t i = 0; i < n; ++i) {
    y[i] = function(at[0][i * steps[0]], at[1][i * steps[1]]);
  }
}

bool unordered(double a, double b) { return std::isnan(a) || std::isnan(b); }

void compute_binary(const double* const* at, const int64_t* steps, int64_t n,
                    int32_t function, double* y) {
#define RC_PAIRS(expression) \
  pairs(at, steps, n, y,     \
        [](double a, double b) -> double { return expression; })
  switch (function) {
    case RC_BINARY_ADD:
      return RC_PAIRS(a + b);
    case RC_BINARY_MUL:
      return RC_PAIRS(a * b);
    case RC_BINARY_SUB:
      return RC_PAIRS(a - b);
    case RC_BINARY_DIV:
      return RC_PAIRS(a / b);
    case RC_BINARY_POW:
      return RC_PAIRS(std::pow(a, b));
    case RC_BINARY_MINIMUM:
      return RC_PAIRS(unordered(a, b) ? a + b : std::min(a, b));
    case RC_BINARY_MAXIMUM:
      return RC_PAIRS(unordered(a, b) ? a + b : std::max(a, b));
    case RC_BINARY_EQUAL:
      return RC_PAIRS(a == b);
    case RC_BINARY_NOT_EQUAL:
      return RC_PAIRS(a != b);
    case RC_BINARY_LESS:
      return RC_PAIRS(a < b);
    case RC_BINARY_LESS_EQUAL:
      return RC_PAIRS(a <= b);
    case RC_BINARY_GREATER:
      return RC_PAIRS(a > b);
    case RC_BINARY_GREATER_EQUAL:
      return RC_PAIRS(a >= b);
  }
#undef RC_PAIRS
  fail(RC_E_INTERNAL, "function ", function, " passed the checks");
}

}  // namespace

void compute_unary(const double* x, int64_t n, int32_t function, double* y) {
#define RC_MAP(expression) \
  map(x, n, y, [](double u) -> double { return expression; })
  switch (function) {
    case RC_FUNCTION_RELU:
      return RC_MAP(u < 0 ? 0 : u);  // a NaN stays
    case RC_FUNCTION_SIGMOID:
      return RC_MAP(1 / (1 + std::exp(-u)));
    case RC_FUNCTION_TANH:
      return RC_MAP(std::tanh(u));
    case RC_FUNCTION_SILU:
      return RC_MAP(u / (1 + std::exp(-u)));
    case RC_FUNCTION_GELU:
      // 1 + erf(v), which cancels far below 0.
      return RC_MAP(0.5 * u * std::erfc(-u / std::numbers::sqrt2));
    case RC_FUNCTION_GELU_TANH:
      return RC_MAP(0.5 * u *
                    (1 + std::tanh(std::sqrt(2 * std::numbers::inv_pi) *
                                   (u + 0.044715 * u * u * u))));
    case RC_FUNCTION_GELU_QUICK:
      return RC_MAP(u / (1 + std::exp(-1.702 * u)));
    case RC_UNARY_EXP:
      return RC_MAP(std::exp(u));
    case RC_UNARY_LOG:
      return RC_MAP(std::log(u));
    case RC_UNARY_SQRT:
      return RC_MAP(std::sqrt(u));
    case RC_UNARY_ABS:
      return RC_MAP(std::fabs(u));
    case RC_UNARY_NEG:
      return RC_MAP(-u);
  }
#undef RC_MAP
  fail(RC_E_INTERNAL, "function ", function, " passed the checks");
}

namespace {

void compute_doubles(const Elements& elements, const uint8_t* const* from,
                     uint8_t* to, int64_t line, int64_t first, int64_t count) {
  const double* at[Elements::kMost];
  int64_t steps[Elements::kMost];
  for (int k = 0; k < elements.operands(); ++k) {
    steps[k] = elements.step(k);
    at[k] = reinterpret_cast<const double*>(from[k]) +
            elements.offset(k, line) + first * steps[k];
  }
  double* y = reinterpret_cast<double*>(to) + line * elements.columns() + first;
  switch (elements.code()) {
    case RC_OP_UNARY:
      return compute_unary(at[0], count, elements.function(), y);
    case RC_OP_BINARY:
      return compute_binary(at, steps, count, elements.function(), y);
    default:
      for (int64_t i = 0; i < count; ++i) {
        y[i] = at[0][i * steps[0]] != 0 ? at[1][i * steps[1]]
                                        : at[2][i * steps[2]];
      }
  }
}

}  // namespace

void compute_elements(const Kernels& kernels, const Elements& elements,
                      rc_dtype type, const uint8_t* const* from, uint8_t* to,
                      int64_t line, int64_t first, int64_t count) {
  if (type == RC_DTYPE_F64) {
    return compute_doubles(elements, from, to, line, first, count);
  }
  alignas(64) float blocks[Elements::kMost + 1][kBlock];
  auto* y = reinterpret_cast<uint16_t*>(to) + line * elements.columns();
  const float* at[Elements::kMost];
  for (const int64_t end = first + count; first < end; first += kBlock) {
    const int64_t some = std::min(kBlock, end - first);
    for (int k = 0; k < elements.operands(); ++k) {
      const int64_t step = elements.step(k);
      const auto* x = reinterpret_cast<const uint16_t*>(from[k]) +
                      elements.offset(k, line) + first * step;
      kernels.widen(x, step == 0 ? 1 : some, type, blocks[k]);
      at[k] = blocks[k];
    }
    float* made = blocks[Elements::kMost];
    elements.compute_at(kernels, at, some, made);
    encode_row(type, made, y + first, some);
  }
}

}  // namespace rc::cpu::numbers
