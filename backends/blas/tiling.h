// The division of a product into tiles of the result, each of which is one call
// of the library or, for long sums, a few. Everything follows from the shape
// alone, so that results do not depend on the number of threads.
#pragma once

#include <cstdint>

namespace rc::blas {

struct Tiling {
  int64_t rows;     // of a tile
  int64_t columns;  // of a tile
  int64_t depth;    // of the sum that one call adds up
  int64_t tiles_down;
  int64_t tiles_across;
  int64_t batch;  // of small products, so many are one task
  int64_t tasks;
};

// Divides `batches` products [m, k] times [k, n]. `panel_columns`: the most
// columns of a tile, whose part of b is converted first; 0: b is used as it
// lies.
Tiling tiling_of(int64_t batches, int64_t m, int64_t n, int64_t k,
                 int64_t panel_columns);

// The largest panel of b that a thread converts to F32 at a time: its columns,
// and its elements.
int64_t panel_columns(int64_t n, int64_t k);
int64_t panel_elements(int64_t n, int64_t k);

}  // namespace rc::blas
