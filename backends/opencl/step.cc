#include "opencl/step.h"

#include "base/error.h"
#include "gpu/c_kernels.h"
#include "opencl/buffer.h"

namespace rc::opencl {
namespace {

Step step_of(OpenClDevice& device, const gpu::Dispatch& dispatch) {
  Step step;
  step.op = dispatch.op;
  step.kernel = device.library().kernel({dispatch.kernel, dispatch.constants});
  step.group = dispatch.constants[0];
  step.across = size_t{dispatch.x} * step.group;
  step.deep = dispatch.z;
  step.may_refuse = gpu::slots_of(dispatch.kernel).fault;
  step.dispatch = &dispatch;
  return step;
}

}  // namespace

void set_arguments(const Step& step, const gpu::Region& counts,
                   const gpu::Region& fault) {
  const gpu::CCall call = gpu::c_call(*step.dispatch, counts, fault);
  cl_uint next = 0;
  const auto add = [&](const void* value, size_t bytes) {
    check(api().SetKernelArg(step.kernel.get(), next++, bytes, value),
          "clSetKernelArg");
  };
  for (const gpu::Region& region : call.buffers) {
    const cl_mem memory = memory_of(region.buffer);
    add(&memory, sizeof memory);
  }
  add(call.places_and_parameters.data(),
      call.places_and_parameters.size() * sizeof(uint64_t));
}

std::vector<Step> steps_of(OpenClDevice& device,
                           const gpu::PlacedProgram& program,
                           const gpu::Region& counts,
                           const gpu::Region& fault) {
  std::vector<Step> steps;
  for (const gpu::Dispatch& dispatch : program.dispatches) {
    steps.push_back(step_of(device, dispatch));
    set_arguments(steps.back(), counts, fault);
  }
  return steps;
}

}  // namespace rc::opencl
