// One op of the plugin ABI on tensors: on their device or, if that lacks the
// op, on the CPU, where the operands are taken and the result is fetched from.
#pragma once

#include <memory>
#include <vector>

#include "compute/tensor.h"
#include "runcible/plugin.h"

namespace rc::compute {

class OpCall {
 public:
  explicit OpCall(int32_t code);

  Op op;  // its parameters are the caller's to set

  // The operands in order: elements of the tensor from its first one on,
  // densely, under another shape. None of them is empty.
  void add(const Tensor& tensor, const Shape& as);
  void add(const Tensor& tensor) { add(tensor, tensor.shape); }
  void add_absent();

  // Runs the op; the result is written as `as` and has shape `shape`.
  Tensor run(DType dtype, const Shape& as, const Shape& shape);
  Tensor run(const Shape& shape) { return run(RC_DTYPE_F32, shape, shape); }

 private:
  struct Operand {
    Tensor tensor;
    rc_plugin_value value;
  };
  void run_on(const std::shared_ptr<runtime::Device>& device,
              const std::vector<rc_plugin_value>& values,
              const std::vector<std::shared_ptr<runtime::Buffer>>& buffers,
              int64_t timeout_ms) const;
  void run_on_fallback(const std::shared_ptr<runtime::Device>& device,
                       std::vector<rc_plugin_value> values,
                       const Tensor& result) const;

  std::vector<Operand> operands_;
  int slots_ = 0;
};

}  // namespace rc::compute
