// Kernels for tensors whose numbers are not F32.
#include "cpu/kernels/levels.h"
#include "cpu/kernels/simd.h"

namespace rc::cpu::RC_CPU_LEVEL {
namespace {

// Eight doubles, in whatever registers the level has.
typedef double Eight __attribute__((vector_size(64), aligned(8), may_alias));

// Rows that are done together: their sums stay in registers.
#if defined(__AVX512F__)
constexpr int kRows = 8;
#elif defined(__AVX__) || defined(__ARM_NEON)
constexpr int kRows = 2;
#else
constexpr int kRows = 1;
#endif

// Each sum is added up in the order of k, so that neither the level nor the
// number of rows matters; products are rounded before they are added.
template <int kCount>
RC_SIMD void some_rows(const double* a, int64_t step, const double* panel,
                       int64_t k, double* y) {
  Eight sums[kCount][2];
#pragma GCC unroll 8
  for (int r = 0; r < kCount; ++r) sums[r][0] = sums[r][1] = Eight{} * 0.0;
  for (int64_t i = 0; i < k; ++i, panel += kPanelColumns) {
    const Eight first = *(const Eight*)panel;
    const Eight second = *(const Eight*)(panel + 8);
#pragma GCC unroll 8
    for (int r = 0; r < kCount; ++r) {
      const double x = a[r * step + i];
      sums[r][0] += x * first;
      sums[r][1] += x * second;
    }
  }
#pragma GCC unroll 8
  for (int r = 0; r < kCount; ++r) {
    *(Eight*)(y + r * kPanelColumns) = sums[r][0];
    *(Eight*)(y + r * kPanelColumns + 8) = sums[r][1];
  }
}

}  // namespace

void product_f64(const double* a, int64_t step, int64_t rows,
                 const double* panel, int64_t k, double* y) {
  int64_t r = 0;
  for (; r + kRows <= rows; r += kRows) {
    some_rows<kRows>(a + r * step, step, panel, k, y + r * kPanelColumns);
  }
  for (; r < rows; ++r) {
    some_rows<1>(a + r * step, step, panel, k, y + r * kPanelColumns);
  }
}

void widen(const uint16_t* x, int64_t n, rc_dtype type, float* y) {
  const int64_t whole = n / kLanes * kLanes;
  for (int64_t i = 0; i < whole; i += kLanes) {
    store(y + i, type == RC_DTYPE_F16 ? load_f16(x + i) : load_bf16(x + i));
  }
  if (whole == n) return;
  uint16_t rest[kLanes] = {};
  for (int64_t i = whole; i < n; ++i) rest[i - whole] = x[i];
  store_some(y + whole, type == RC_DTYPE_F16 ? load_f16(rest) : load_bf16(rest),
             n - whole);
}

}  // namespace rc::cpu::RC_CPU_LEVEL
