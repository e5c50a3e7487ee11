#include "opencl/step.h"

#include "base/error.h"
#include "gpu/c_kernels.h"
#include "opencl/buffer.h"

namespace rc::opencl {
namespace {

// Sets the arguments of a kernel one after the other.
class Arguments {
 public:
  explicit Arguments(cl_kernel kernel) : kernel_(kernel) {}

  template <class T>
  void add(const T& value) {
    check(api().SetKernelArg(kernel_, next_++, sizeof value, &value),
          "clSetKernelArg");
  }
  void add_memory(cl_mem memory, uint64_t offset) {
    add(memory);
    add(cl_ulong{offset});
  }

 private:
  cl_kernel kernel_;
  cl_uint next_ = 0;
};

Step step_of(Device& device, const gpu::Dispatch& dispatch, cl_mem counts) {
  Step step;
  step.op = dispatch.op;
  step.kernel = device.library().kernel({dispatch.kernel, dispatch.constants});
  step.rows = dispatch.rows;
  step.batch = dispatch.batch;
  step.work = dispatch.work;
  step.group = dispatch.constants[0];
  step.across = size_t{dispatch.x} * step.group;
  step.deep = dispatch.z;
  // The counts, what is bound by slot, and the parameters.
  Arguments arguments(step.kernel.get());
  arguments.add_memory(counts, 0);
  for (const gpu::Binding& binding : gpu::c_bindings(dispatch)) {
    arguments.add_memory(memory_of(binding.region.buffer),
                         binding.region.offset);
  }
  for (const uint32_t parameter : dispatch.parameters) {
    arguments.add(cl_uint{parameter});
  }
  return step;
}

}  // namespace

std::vector<Step> steps_of(Device& device, const gpu::PlacedProgram& program,
                           cl_mem counts,
                           std::vector<std::unique_ptr<gpu::Buffer>>* kept) {
  std::vector<gpu::Dispatch> dispatches;
  for (size_t i = 0; i < program.ops.size(); ++i) {
    gpu::append_dispatches(device, program.ops[i], static_cast<int32_t>(i),
                           program.values, program.limits, &dispatches, kept);
  }
  std::vector<Step> steps;
  for (const gpu::Dispatch& dispatch : dispatches) {
    steps.push_back(step_of(device, dispatch, counts));
  }
  return steps;
}

}  // namespace rc::opencl
