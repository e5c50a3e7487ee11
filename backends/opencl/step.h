// Steps of a program: kernels with their arguments set. What changes from run
// to run, the numbers of rows and the inputs, is data in buffers, so that a run
// only enqueues.
#pragma once

#include <cstddef>
#include <cstdint>

#include "gpu/dispatch.h"
#include "opencl/api.h"

namespace rc::opencl {

// One kernel over a range: dimension 1 counts blocks of rows and may be cut
// into pieces anywhere, the others lie within a row and are fixed.
struct Step {
  int32_t op = 0;  // its place in the program
  Kernel kernel;
  gpu::RowRange rows;
  uint32_t batch = 1;           // rows of a block
  size_t items[3] = {1, 1, 1};  // of a block of rows
  size_t group[3] = {1, 1, 1};
  gpu::RowWork work;
};

}  // namespace rc::opencl
