// One op of the plugin ABI on tensors. It runs on their device, or on the
// device of their placement that will finish first. If that device does not
// support the op, the operands are copied to the CPU, and the result is copied
// back. If a graph records one of the operands, the op is recorded there.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "compute/destination.h"
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
  // `shape`. Where an operand is an outline, so is the result, and nothing is
  // run. With a destination that is what the result is written into, and given.
  Tensor run(DType dtype, const Shape& as, const Shape& shape,
             const Destination* into = nullptr);
  Tensor run(const Shape& shape, const Destination* into = nullptr) {
    return run(RC_DTYPE_F32, shape, shape, into);
  }
  Tensor run(DType dtype, const Shape& shape, const Destination* into) {
    return run(dtype, shape, shape, into);
  }

 private:
  struct Operand {
    std::shared_ptr<Context> context;
    std::shared_ptr<Storage> storage;
  };

  // Whether the operands are F16 or BF16, and the op is to be computed in F32
  // and rounded: no device, or not this one, has it in their type.
  bool is_widened() const;
  Tensor run_widened(DType dtype, const Shape& as, const Shape& shape,
                     const Destination* into) const;

  // The operands' values and the result's.
  std::span<const rc_plugin_value> values() const {
    return {values_, static_cast<size_t>(count_) + 1};
  }
  void check_devices() const;
  // Of the first operand that has one; nullptr: all have numbers.
  GraphRecording* recording() const;
  Tensor record(GraphRecording& recording, const Shape& shape) const;
  bool outlines() const;
  // The operands lie on the context's device.
  Tensor run_here(const std::shared_ptr<Context>& context, DType dtype,
                  const Shape& shape);
  // The same, with memory for the result.
  void run_into(const Tensor& result);
  Tensor run_into(const Destination& into, DType dtype, const Shape& shape);
  // Operands that the op may not be computed in place of are refused, or, for
  // plugins that do not know of that, copied.
  void check_in_place(const Destination& into);
  // False: the device compiles it.
  bool run_at_once(const Tensor& result, int64_t& spent_ns) const;
  void run_on(const std::shared_ptr<runtime::Device>& device,
              const std::vector<rc_plugin_value>& values,
              const std::vector<std::shared_ptr<runtime::Buffer>>& buffers,
              int64_t timeout_ms, int64_t& spent_ns) const;
  // On the context's device, which keeps what it compiles.
  void run_kept(Context& context, const Tensor& result,
                int64_t& spent_ns) const;
  void run_on_fallback(const std::shared_ptr<runtime::Device>& device,
                       const Tensor& result, int64_t& spent_ns) const;

  // Where there is a choice (op_choice.cc).
  Tensor run_where_done_first(Placement& placement, DType dtype,
                              const Shape& shape);
  Tensor outline(DType dtype, const Shape& shape) const;
  Placement::Ranking rank(Placement& placement) const;
  int operand_device(const Placement& placement, int i) const;
  bool supported_by(const runtime::Device& device) const;
  // The operands in the memory of the context. With `lends` those that the
  // context's device can use where they are stay there, as long as the tensors
  // do that they belong to.
  OpCall moved_to(const std::shared_ptr<Context>& context, bool lends) const;

  Operand operands_[kMaxInputs];
  rc_plugin_value values_[kMaxInputs + 1];
  int count_ = 0;
  int slots_ = 0;
};

}  // namespace rc::compute
