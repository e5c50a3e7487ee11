// One op of the plugin ABI on tensors: on their device or, if that lacks the
// op, on the CPU, where the operands are taken and the result is fetched from.
// With an operand that a graph records, the op is recorded there.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "compute/tensor.h"
#include "runcible/plugin.h"
#include "tensor/op.h"

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

  // Runs the op, or records it; the result is written as `as` and has shape
  // `shape`.
  Tensor run(DType dtype, const Shape& as, const Shape& shape);
  Tensor run(const Shape& shape) { return run(RC_DTYPE_F32, shape, shape); }

 private:
  struct Operand {
    std::shared_ptr<Context> context;
    std::shared_ptr<Storage> storage;
  };

  // The operands' values and the result's.
  std::span<const rc_plugin_value> values() const {
    return {values_, static_cast<size_t>(count_) + 1};
  }
  void check_devices() const;
  // Of the first operand that has one; nullptr: all have numbers.
  Recording* recording() const;
  Tensor record(Recording& recording, const Shape& shape) const;
  // False: the device compiles it.
  bool run_at_once(const Tensor& result) const;
  void run_on(const std::shared_ptr<runtime::Device>& device,
              const std::vector<rc_plugin_value>& values,
              const std::vector<std::shared_ptr<runtime::Buffer>>& buffers,
              int64_t timeout_ms) const;
  void run_on_fallback(const std::shared_ptr<runtime::Device>& device,
                       const Tensor& result) const;

  Operand operands_[kMaxInputs];
  rc_plugin_value values_[kMaxInputs + 1];
  int count_ = 0;
  int slots_ = 0;
};

}  // namespace rc::compute
