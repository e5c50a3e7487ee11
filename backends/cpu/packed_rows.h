// The left side of products that are packed: rows of matrices, 16 at a time.
#pragma once

#include "cpu/compiler.h"

namespace rc::cpu {

struct PackedRows {
  int64_t matrices, rows, k;

  int64_t tiles() const { return (rows + kProductRows - 1) / kProductRows; }
  int64_t tile_floats() const { return k * kProductRows; }
  uint64_t bytes() const {
    return product(product(static_cast<uint64_t>(matrices * tiles()),
                           static_cast<uint64_t>(tile_floats())),
                   sizeof(float));
  }
};

// Adds the step that packs them to `to`, which is own_area(input): [matrices,
// tiles, k, kProductRows]. They lie in the input from number `first` on, those
// of two matrices `step` numbers apart.
void add_packed_rows(Compiler& c, int32_t input, int64_t first, int64_t step,
                     const PackedRows& packed, float* to);

}  // namespace rc::cpu
