// Compiled programs: kernels with their arguments set, in the order of the
// ops. What changes from run to run, the numbers of rows and the inputs, is
// data in buffers, so that a run only enqueues.
#pragma once

#include <cstdint>
#include <vector>

#include "common/given_program.h"
#include "opencl/api.h"
#include "opencl/device.h"
#include "opencl/weight.h"
#include "runcible/plugin.h"
#include "tensor/op.h"

struct rc_plugin_buffer {
  rc::opencl::Memory memory;
  uint64_t bytes;
};

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

struct rc_plugin_compiled {
  rc_plugin_compiled(rc::opencl::Device& device,
                     const rc::plugin::GivenProgram& program);

  // Throws RC_E_INVALID_ARGUMENT for numbers beyond those of the program.
  void check(const rc_plugin_run& run) const;

  std::vector<rc_plugin_value> values;
  rc::Rows limits;
  // By index; a buffer that no value uses is absent.
  std::vector<rc::opencl::Memory> inputs;
  std::vector<rc::opencl::Memory> outputs;
  std::vector<int32_t> input_values;  // -1: no value
  std::vector<int32_t> output_values;
  int32_t positions = -1;     // the input that attention takes positions from
  rc::opencl::Memory counts;  // I32: rows, outputs, sequences of the run
  rc::opencl::Memory scratch;
  std::vector<rc::opencl::Memory> kept;  // that steps of one op hand on
  std::vector<rc::opencl::Step> steps;
};
