// A product of F32 that reads b, which is not transposed, as it lies: where
// packing it would take longer than the few uses of it.
#pragma once

#include "cpu/kernels.h"
#include "cpu/matmul_sizes.h"

namespace rc::cpu {

struct DirectMatmul : MatmulSizes {
  explicit DirectMatmul(const MatmulSizes& sizes) : MatmulSizes(sizes) {}

  // Whether packing b would take longer: where it is used for few rows, is very
  // small, or stays in the second-level cache and is not read too often from
  // there.
  bool pays(const Kernels& kernels) const {
    const bool rarely =
        kernels.product_columns == kProductColumns && room() == 0;
    const int64_t most = int64_t{1} << (rarely ? 18 : 14);
    return !transposed && (m <= kProductRows || k * n <= most);
  }
  // Parts of the result, which may be made in any order.
  int64_t pieces() const;
  // Floats of a copy of the last columns, if they are no whole vector.
  int64_t room() const { return n % kTileRows == 0 ? 0 : k * kTileRows; }
  // `copy` is room() floats, if that is not 0.
  void compute(const Kernels& kernels, const float* a, const float* b,
               int64_t piece, float* y, float* copy) const;
};

}  // namespace rc::cpu
