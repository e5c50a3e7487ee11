#include "opencl/compiler.h"

#include "base/error.h"
#include "gpu/c_kernels.h"
#include "gpu/dispatch.h"
#include "opencl/arguments.h"
#include "opencl/buffer.h"
#include "opencl/walk.h"

namespace rc::opencl {

void Compiler::compile() {
  for (size_t i = 0; i < program_.ops.size(); ++i) {
    const Op& op = program_.ops[i];
    const size_t first = target_.size();
    const int32_t deciding = deciding_value(op);
    if (is_tensor_op(
            op, deciding < 0 ? nullptr : &program_.values[deciding].value)) {
      add_tensor_op(op);
    } else {
      add(op, static_cast<int32_t>(i));
    }
    for (size_t j = first; j < target_.size(); ++j) {
      target_[j].op = static_cast<int32_t>(i);
    }
  }
}

Place Compiler::place(int32_t number, uint64_t unit) const {
  if (number < 0) return {nullptr, 0};
  const gpu::Placed& placed = program_.values[number];
  return {memory_of(placed.region.buffer), placed.region.offset / unit};
}

void Compiler::add(const Op& op, int32_t number) {
  std::vector<gpu::Dispatch> dispatches;
  gpu::append_dispatches(device_, op, number, program_.values, program_.limits,
                         &dispatches, &kept_);
  for (const gpu::Dispatch& dispatch : dispatches) {
    target_.push_back(step_of(dispatch));
  }
}

Step Compiler::step_of(const gpu::Dispatch& dispatch) const {
  Step step;
  step.kernel = device_.library().kernel(
      cat(gpu::kernel_name(dispatch.kernel), ".cl"),
      gpu::kernel_name(dispatch.kernel),
      gpu::c_definitions({dispatch.kernel, dispatch.constants}),
      gpu::c_is_scalar(dispatch.kernel) ? 1 : 0);
  step.rows = dispatch.rows;
  step.batch = dispatch.batch;
  step.work = dispatch.work;
  step.group[0] = dispatch.constants[0];
  step.items[0] = size_t{dispatch.x} * dispatch.constants[0];
  step.items[2] = dispatch.z;
  // The counts, what is bound by slot, and the parameters.
  cl_uint argument = 0;
  const auto set = [&](const auto&... values) {
    set_arguments(step.kernel, argument, values...);
    argument += sizeof...(values);
  };
  set(counts_, cl_ulong{0});
  for (const gpu::Binding& binding : gpu::c_bindings(dispatch)) {
    set(memory_of(binding.region.buffer), cl_ulong{binding.region.offset});
  }
  for (const uint32_t parameter : dispatch.parameters) set(cl_uint{parameter});
  return step;
}

Step Compiler::step(Kernel kernel, int64_t rows, int64_t items, uint32_t group,
                    double work) const {
  Step step;
  step.kernel = std::move(kernel);
  set_rows(rows, &step);
  step.group[0] = group;
  step.items[0] = (static_cast<size_t>(items) + group - 1) / group * group;
  step.work.each = work;
  return step;
}

}  // namespace rc::opencl
