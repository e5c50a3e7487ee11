#include "compute/destination.h"

#include "base/error.h"
#include "compute/op_call.h"
#include "compute/ops.h"

namespace rc::compute {
namespace {

// Of the plugin ABI: from it on functions of elements may be computed in place.
constexpr uint32_t kInPlace = 3;

// Ops of which each element depends on the same one of each operand.
bool elementwise(int32_t code) {
  return code == RC_OP_UNARY || code == RC_OP_BINARY || code == RC_OP_WHERE;
}

void check_fits(const Destination& into, DType dtype, const Shape& shape) {
  const Tensor& target = into.tensor;
  const auto refuse = [&](const auto&... why) {
    fail(RC_E_INVALID_ARGUMENT, into.op, ": the result is ", dtype_name(dtype),
         " ", shape_text(shape), ", the target ", target.text(), "; ", why...);
  };
  if (target.recorded()) {
    refuse("the target was recorded in a graph and has no memory");
  }
  if (target.outline()) refuse("the target is an outline, without memory");
  if (target.dtype != dtype || target.shape != shape) {
    refuse("type and shape must be equal");
  }
  if (!target.empty() && !target.dense()) {
    refuse(
        "the elements of the target do not lie in order; write into a "
        "whole tensor, or into a slice of the first dimension");
  }
}

}  // namespace

void OpCall::check_in_place(const Destination& into) {
  const Tensor& target = into.tensor;
  const uint64_t begin = target.byte_offset();
  const uint64_t end = begin + target.bytes();
  for (int i = 0; i < count_; ++i) {
    const rc_plugin_value& value = values_[i];
    const uint64_t bytes = value_bytes(value, {}).value();
    if (operands_[i].storage != target.storage || value.offset >= end ||
        value.offset + bytes <= begin) {
      continue;
    }
    const bool same = value.offset == begin && value.offset + bytes == end &&
                      value.dtype == target.dtype;
    if (!elementwise(op.code) || !same) {
      fail(RC_E_INVALID_ARGUMENT, into.op, ": operand ", i, ", ",
           value_text(value), ", shares memory with the target, ",
           target.text(), "; ",
           elementwise(op.code)
               ? "in place of an operand the target has to be all of it, and "
                 "no part that is repeated"
               : "this op cannot be computed in place: write into another "
                 "tensor");
    }
    if (target.context->device()->plugin().abi_version >= kInPlace) continue;
    auto copied = std::make_shared<Storage>(*target.context, bytes, false);
    copied->buffer()->copy_from(*operands_[i].storage->buffer(), 0,
                                value.offset, bytes);
    operands_[i] = {target.context, std::move(copied)};
    values_[i].offset = 0;
  }
}

Tensor OpCall::run_into(const Destination& into, DType dtype,
                        const Shape& shape) {
  if (recording() != nullptr) {
    fail(RC_E_INVALID_ARGUMENT, into.op,
         ": an operand was recorded in a graph, which records no op that "
         "writes into a tensor; a run gives new tensors");
  }
  if (outlines()) {
    fail(RC_E_INVALID_ARGUMENT, into.op,
         ": an operand is an outline, of which there is nothing to write into "
         "a tensor");
  }
  check_fits(into, dtype, shape);
  const std::shared_ptr<Context>& context = into.tensor.context;
  OpCall here = *this;
  if (context->placement() != nullptr &&
      operands_[0].context->placement() == context->placement()) {
    // The target may lie in memory that an operand was borrowed from, too.
    here = moved_to(context, /*lends=*/false);
  } else if (operands_[0].context->device() != context->device()) {
    fail(RC_E_INVALID_ARGUMENT, into.op, ": the operands lie on ",
         operands_[0].context->device()->id(), ", the target on ",
         context->device()->id(), "; rc_tensor_to moves one of them");
  } else {
    check_devices();
  }
  here.check_in_place(into);
  here.run_into(into.tensor);
  return into.tensor;
}

Tensor deliver(const Tensor& result, const Destination& into) {
  const Tensor& target = into.tensor;
  const bool in_place =
      result.storage == target.storage && result.offset == target.offset &&
      result.shape == target.shape && result.strides == target.strides;
  if (in_place) return target;
  check_fits(into, result.dtype, result.shape);
  if (result.empty()) return target;
  Tensor given = result;
  // The op returned a view of an operand, which may be a part of the target or
  // overlap it.
  if (result.storage == target.storage) given = copy(result);
  return copy(given, &into);
}

}  // namespace rc::compute
