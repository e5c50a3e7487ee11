// Ops that are recorded instead of done: OpCall brings every op here that has
// an operand whose storage is of a recording.
//
// A *base* is what stands for the memory of a tensor: an input of the graph, a
// tensor that exists, or the result of a recorded op. Values are views of
// bases; the `index` of a value is the number of its base.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <unordered_map>
#include <vector>

#include "compute/custom/op.h"
#include "compute/tensor.h"
#include "tensor/op.h"

namespace rc::compute {

struct Base {
  enum Kind { kInput, kConstant, kResult };
  Kind kind;
  size_t index = 0;                  // among the inputs; of the op
  std::shared_ptr<Storage> storage;  // of a constant
  rc_plugin_value whole = {};        // of the others: all of it
};

// Where an op of the schema has its code.
inline constexpr int32_t kCustomOp = -1;

// Each computes new bases, whole: an op of the schema one.
struct RecordedOp : Op {
  // Of a custom op, whose inputs are those of the call, and whose outputs are
  // these values; outputs[0] is the first of them.
  std::shared_ptr<const CustomCall> custom;
  std::vector<int32_t> results;
};

struct Recorded {
  std::vector<Base> bases;
  std::vector<rc_plugin_value> values;  // of storage RC_STORAGE_CACHE
  std::vector<RecordedOp> ops;
};

class GraphRecording : public std::enable_shared_from_this<GraphRecording> {
 public:
  // Where the ops are to run.
  explicit GraphRecording(std::shared_ptr<Context> context)
      : context_(std::move(context)) {}

  const std::shared_ptr<Context>& context() const { return context_; }

  // A tensor for one that each run brings; the shape has been checked and has
  // elements.
  Tensor input(DType dtype, const Shape& shape, size_t index);
  // The result of an op, which check_op has passed. Value i shows storages[i],
  // the last one is the result; `shape` is that of the tensor.
  Tensor add(const Op& op, std::span<const rc_plugin_value> values,
             const std::shared_ptr<Storage>* const* storages,
             const Shape& shape);

  // The results of a custom op of dense tensors.
  std::vector<Tensor> add(CustomCall call, std::span<const Tensor> inputs);

  // Whether a dense tensor is all that an op has made.
  bool is_result(const Tensor& tensor) const;

  // Everything so far. No op is recorded any more after end().
  Recorded recorded() const;
  void end();

 private:
  // Throws unless one more op can be recorded.
  void check_open(const char* op) const;
  // function(first) records what comes from there on; of one that fails nothing
  // is left.
  template <class Function>
  void attempt(const Function& function);
  // The value of an operand.
  void add_value(rc_plugin_value value,
                 const std::shared_ptr<Storage>& storage);
  // A new base, of which the value is the whole.
  Tensor add_result(rc_plugin_value value, const Shape& shape);
  int32_t base_of(const std::shared_ptr<Storage>& storage);
  Tensor tensor_of(int32_t base, DType dtype, const Shape& shape);

  const std::shared_ptr<Context> context_;
  mutable std::mutex mutex_;
  Recorded recorded_;
  std::unordered_map<const Storage*, int32_t> constants_;
  bool ended_ = false;
};

}  // namespace rc::compute
