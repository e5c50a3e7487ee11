// Steps of a program: kernels with their arguments set. What changes from run
// to run, the numbers of rows and the inputs, is data in buffers, so that a run
// only enqueues.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "gpu/device.h"
#include "gpu/dispatch.h"
#include "opencl/api.h"
#include "opencl/opencl_device.h"

namespace rc::opencl {

// One kernel over a range: dimension 1 counts blocks of rows, the others lie
// within a row.
struct Step {
  int32_t op = 0;  // its place in the program
  Kernel kernel;
  size_t group = 1;   // work-items, all along dimension 0
  size_t across = 1;  // work-items along dimension 0
  size_t deep = 1;    // and along dimension 2
  bool may_refuse = false;
  const gpu::Dispatch* dispatch = nullptr;
};

// Sets the arguments of the kernel as the dispatch has them.
void set_arguments(const Step& step, const gpu::Region& counts,
                   const gpu::Region& fault);

// Those of a program. `counts`: the rows, outputs and sequences of a run, I32;
// `fault`: where kernels report what they refuse.
std::vector<Step> steps_of(OpenClDevice& device,
                           const gpu::PlacedProgram& program,
                           const gpu::Region& counts, const gpu::Region& fault);

}  // namespace rc::opencl
