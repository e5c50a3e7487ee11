// Steps of a program: kernels with their arguments set. What changes from run
// to run, the numbers of rows and the inputs, is data in buffers, so that a run
// only enqueues.
#pragma once

#include <cstddef>
#include <cstdint>

#include "opencl/api.h"
#include "runcible/plugin.h"

namespace rc::opencl {

// One kernel over a range: dimension 0 lies within a row and is fixed,
// dimension 1 counts blocks of rows and may be cut into pieces anywhere.
struct Range {
  Kernel kernel;
  size_t items[2] = {1, 1};  // dimension 0; for each block of rows
  size_t group[2] = {1, 1};
  int64_t rows_per_block = 1;
};

struct Step {
  int32_t op = 0;            // its place in the program
  int64_t dimension = 0;     // of the rows, RC_DIM_*
  int64_t rows_per_row = 1;  // rows of the kernel for each row of the batch
  Range narrow;              // for any number of rows
  Range wide;                // for `wide_from` rows or more, if it is there
  int64_t wide_from = 0;
  // About how many products a row of the kernel takes: for attention, for each
  // position; where it is a sequence, for each row of that.
  uint64_t cost = 1;
  bool attention = false;

  const Range& range(int64_t rows) const {
    return wide.kernel != nullptr && rows >= wide_from ? wide : narrow;
  }
};

}  // namespace rc::opencl
