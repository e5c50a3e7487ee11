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

struct Recorded {
  std::vector<Base> bases;
  std::vector<rc_plugin_value> values;  // of storage RC_STORAGE_CACHE
  std::vector<Op> ops;                  // each computes one new base, whole
};

class Recording : public std::enable_shared_from_this<Recording> {
 public:
  // Where the ops are to run.
  explicit Recording(std::shared_ptr<Context> context)
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

  // Whether a dense tensor is all that an op has made.
  bool is_result(const Tensor& tensor) const;

  // Everything so far. No op is recorded any more after end().
  Recorded recorded() const;
  void end();

 private:
  int32_t base_of(const std::shared_ptr<Storage>& storage);
  Tensor tensor_of(int32_t base, DType dtype, const Shape& shape);

  const std::shared_ptr<Context> context_;
  mutable std::mutex mutex_;
  Recorded recorded_;
  std::unordered_map<const Storage*, int32_t> constants_;
  bool ended_ = false;
};

}  // namespace rc::compute
