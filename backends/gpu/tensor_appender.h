// Functions that the dispatches of all tensor ops share.
//
// Work-groups are numbered; an op that takes long is cut into several
// dispatches, so that a run can stop between them. Values are bound whole, from
// the last place before them that can be bound: how far they begin after it,
// their base, is a parameter of the kernels (see tensor.glsl).
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "gpu/dispatch.h"

namespace rc::gpu {

// Elements of a value.
uint64_t element_count(const rc_plugin_value& value);

class TensorAppender {
 public:
  TensorAppender(Device& device, const Op& op, int32_t number,
                 std::span<const Placed> values,
                 std::vector<Dispatch>* dispatches,
                 std::vector<std::unique_ptr<Buffer>>* kept)
      : op(op),
        number(number),
        tuning(device.tuning()),
        device_(device),
        values_(values),
        dispatches_(dispatches),
        kept_(kept) {}

  const Op& op;
  const int32_t number;
  const Tuning& tuning;
  // Stages so far.
  int stages = 0;

  bool has(int slot) const { return op.inputs[slot] >= 0; }
  const rc_plugin_value& in(int slot) const {
    return values_[op.inputs[slot]].value;
  }
  const rc_plugin_value& out() const { return values_[op.outputs[0]].value; }
  // Of an input, or of input `instead` if it is absent: what a kernel names is
  // bound even where it isn't read.
  const Placed& placed(int slot, int instead = 0) const {
    return values_[op.inputs[has(slot) ? slot : instead]];
  }
  const Placed& placed_out() const { return values_[op.outputs[0]]; }
  // In units of so many bytes.
  uint32_t base(const Placed& placed, uint32_t unit) const;

  struct Operand {
    uint32_t slot;
    const Placed* placed;
    bool quads = false;  // read as quads
  };
  // Appends the dispatches of a stage of the op: `groups` work-groups of about
  // `group_work` multiply-adds each. `parameters` follow those of
  // tensor.glsl. A stage begins when those before it have ended.
  void append(Kernel kernel, std::vector<uint32_t> constants,
              const std::vector<Operand>& operands,
              const std::vector<uint32_t>& parameters, uint64_t groups,
              double group_work);
  // Memory for what a stage hands on.
  Placed keep(uint64_t words);

 private:
  Region bound(const Placed& placed) const;

  Device& device_;
  std::span<const Placed> values_;
  std::vector<Dispatch>* dispatches_;
  std::vector<std::unique_ptr<Buffer>>* kept_;
};

// An op on tensors: its number and the function that appends its dispatches.
struct TensorOp {
  int32_t code;  // RC_OP_*
  void (*append)(TensorAppender& appender);
};

// The ops of each file.
std::span<const TensorOp> tensor_element_ops();
std::span<const TensorOp> tensor_line_ops();
std::span<const TensorOp> tensor_product_ops();

}  // namespace rc::gpu
