#include "compute/op_call.h"

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "compute/at_once.h"
#include "compute/graph_recording.h"
#include "compute/ops.h"
#include "runtime/program.h"
#include "tensor/op.h"
#include "tensor/op_schema.h"

namespace rc::compute {
namespace {

rc_plugin_value make_value(DType dtype, const Shape& shape, int32_t index,
                           uint64_t offset) {
  rc_plugin_value value = {};
  value.dtype = dtype;
  value.rank = static_cast<int32_t>(shape.size());
  std::copy(shape.begin(), shape.end(), value.shape);
  value.storage = RC_STORAGE_CACHE;
  value.index = index;
  value.offset = offset;
  return value;
}

}  // namespace

OpCall::OpCall(int32_t code) { op.code = code; }

void OpCall::add(const Tensor& tensor, const Shape& as) {
  op.inputs[slots_++] = count_;
  operands_[count_] = {tensor.context, tensor.storage};
  values_[count_] = make_value(tensor.dtype, as, count_, tensor.byte_offset());
  ++count_;
}

void OpCall::add_absent() { ++slots_; }

void OpCall::run_on(
    const std::shared_ptr<runtime::Device>& device,
    const std::vector<rc_plugin_value>& values,
    const std::vector<std::shared_ptr<runtime::Buffer>>& buffers,
    int64_t timeout_ms, int64_t& spent_ns) const {
  const auto program = compile_op(device, op, values, buffers);
  runtime::RunArguments arguments;
  arguments.rows = 1;
  arguments.spent_ns = &spent_ns;
  program->run(arguments, timeout_ms);
}

void OpCall::run_kept(Context& context, const Tensor& result,
                      int64_t& spent_ns) const {
  std::vector<std::shared_ptr<runtime::Buffer>> buffers;
  for (int i = 0; i < count_; ++i) {
    buffers.push_back(operands_[i].storage->buffer());
  }
  buffers.push_back(result.storage->buffer());
  if (!OpPrograms::serve(*context.device())) {
    return run_on(context.device(), {values().begin(), values().end()}, buffers,
                  context.timeout_ms(), spent_ns);
  }
  const auto program =
      context.programs().program(context.device(), op, values(), buffers);
  runtime::RunArguments arguments;
  arguments.rows = 1;
  arguments.spent_ns = &spent_ns;
  for (const auto& buffer : buffers) {
    arguments.caches.push_back(buffer->handle());
  }
  program->run(arguments, context.timeout_ms());
}

void OpCall::run_on_fallback(const std::shared_ptr<runtime::Device>& device,
                             const Tensor& result, int64_t& spent_ns) const {
  std::vector<rc_plugin_value> here(values().begin(), values().end());
  std::vector<std::shared_ptr<runtime::Buffer>> theirs;
  for (int i = 0; i < count_; ++i) {
    theirs.push_back(operands_[i].storage->buffer());
  }
  theirs.push_back(result.storage->buffer());
  const auto bytes_of = [](const rc_plugin_value& value) {
    return value_bytes(value, {}).value();
  };
  // An operand in the memory of the result is copied: the device would not see
  // that two buffers are one.
  const size_t last = here.size() - 1;
  const auto is_lent = [&](size_t i) {
    return can_lend(*theirs[i], *device) &&
           (i == last || theirs[i] != theirs[last]);
  };
  uint64_t copied = 0;
  for (size_t i = 0; i < here.size(); ++i) {
    if (!is_lent(i)) copied += bytes_of(here[i]);
  }
  Paid paid(result.context->pool()->account(), copied);
  paid.use();
  std::vector<std::shared_ptr<runtime::Buffer>> buffers;
  for (size_t i = 0; i < here.size(); ++i) {
    const uint64_t bytes = bytes_of(here[i]);
    const uint64_t offset = std::exchange(here[i].offset, 0);
    if (is_lent(i)) {
      buffers.push_back(lend(theirs[i], offset, bytes, *device));
      continue;
    }
    buffers.push_back(device->create_buffer(bytes));
    if (i != last) buffers[i]->copy_from(*theirs[i], 0, offset, bytes);
  }
  std::vector<rc_plugin_buffer*> handles;
  for (const auto& buffer : buffers) handles.push_back(buffer->handle());
  if (!device->runs_ops() ||
      !device->run_op(op, here, handles.data(), spent_ns)) {
    run_on(device, here, buffers, result.context->timeout_ms(), spent_ns);
  }
  if (!is_lent(last)) {
    theirs[last]->copy_from(*buffers[last], result.byte_offset(), 0,
                            bytes_of(here[last]));
  }
}

void OpCall::check_devices() const {
  const auto& device = operands_[0].context->device();
  for (int i = 1; i < count_; ++i) {
    const auto& other = operands_[i].context->device();
    if (other == device) continue;
    fail(RC_E_INVALID_ARGUMENT, "the tensors of an op live on ", device->id(),
         " and on ",
         other->id() == device->id() ? "another opening of it" : other->id(),
         "; rc_tensor_to moves one of them to where the other is");
  }
}

bool OpCall::outlines() const {
  return std::any_of(operands_, operands_ + count_, [](const Operand& operand) {
    return operand.storage->outline();
  });
}

bool OpCall::run_at_once(const Tensor& result, int64_t& spent_ns) const {
  const runtime::Device& device = *result.context->device();
  if (!device.runs_ops()) return false;
  rc_plugin_buffer* buffers[kMaxInputs + 1];
  for (int i = 0; i < count_; ++i) {
    buffers[i] = operands_[i].storage->buffer()->handle();
  }
  buffers[count_] = result.storage->buffer()->handle();
  return device.run_op(op, values(), buffers, spent_ns);
}

GraphRecording* OpCall::recording() const {
  for (int i = 0; i < count_; ++i) {
    if (const auto& found = operands_[i].storage->recording()) {
      return found.get();
    }
  }
  return nullptr;
}

Tensor OpCall::record(GraphRecording& recording, const Shape& shape) const {
  if (outlines()) {
    fail(RC_E_INVALID_ARGUMENT, op_name(op.code),
         ": an operand is an outline, which has no numbers, and another was "
         "recorded in a graph");
  }
  check_op(op, values());
  // Constants are where the graph runs.
  const std::shared_ptr<Context>& context = recording.context();
  if (context->placement() == nullptr) check_devices();
  const OpCall here = context->placement() == nullptr
                          ? *this
                          : moved_to(context, /*lends=*/false);
  const std::shared_ptr<Storage>* storages[kMaxInputs];
  for (int i = 0; i < count_; ++i) storages[i] = &here.operands_[i].storage;
  return recording.add(op, here.values(), storages, shape);
}

Tensor OpCall::run(DType dtype, const Shape& as, const Shape& shape,
                   const Destination* into) {
  op.outputs[0] = count_;
  values_[count_] = make_value(dtype, as, count_, 0);
  if (is_widened()) return run_widened(dtype, as, shape, into);
  if (into != nullptr) return run_into(*into, dtype, shape);
  if (GraphRecording* found = recording()) return record(*found, shape);
  const std::shared_ptr<Context>& context = operands_[0].context;
  const std::shared_ptr<Placement>& placement = context->placement();
  if (placement == nullptr) check_devices();
  if (outlines()) return outline(dtype, shape);
  if (placement == nullptr) return run_here(context, dtype, shape);
  return run_where_done_first(*placement, dtype, shape);
}

bool OpCall::is_widened() const {
  if (values_[0].dtype != RC_DTYPE_F16 && values_[0].dtype != RC_DTYPE_BF16) {
    return false;
  }
  switch (find_op(op.code)->tensors.inputs[0].type) {
    case ValueType::kD:
      return true;
    case ValueType::kT: {
      check_op(op, values());
      GraphRecording* const found = recording();
      const Context& context =
          found != nullptr ? *found->context() : *operands_[0].context;
      // Among several devices there is a CPU.
      return context.placement() == nullptr && !supported_by(*context.device());
    }
    default:
      return false;
  }
}

Tensor OpCall::run_widened(DType dtype, const Shape& as, const Shape& shape,
                           const Destination* into) const {
  OpCall wide(op.code);
  wide.op.params = op.params;
  for (int slot = 0; slot < slots_; ++slot) {
    const int32_t number = op.inputs[slot];
    if (number < 0) {
      wide.add_absent();
      continue;
    }
    const rc_plugin_value& value = values_[number];
    const DTypeInfo& type = *dtype_info(value.dtype);
    Tensor operand;
    operand.context = operands_[number].context;
    operand.storage = operands_[number].storage;
    operand.dtype = value.dtype;
    operand.shape = Shape(value.shape, value.shape + value.rank);
    operand.strides = dense_strides(operand.shape);
    operand.offset =
        static_cast<int64_t>(value.offset) / type.block_bytes * type.block_size;
    const bool half = value.dtype == values_[0].dtype;
    wide.add(half ? dequantize(operand) : operand);
  }
  if (dtype != values_[0].dtype) return wide.run(dtype, as, shape, into);
  return quantize(wide.run(RC_DTYPE_F32, as, shape), dtype, into);
}

Tensor OpCall::run_here(const std::shared_ptr<Context>& context, DType dtype,
                        const Shape& shape) {
  Tensor result = make_result(context, dtype, shape);
  run_into(result);
  return result;
}

void OpCall::run_into(const Tensor& result) {
  const std::shared_ptr<Context>& context = result.context;
  values_[count_].offset = result.byte_offset();
  Work work(*context);
  if (run_at_once(result, work.spent_ns)) return;
  check_op(op, values());

  runtime::Message message;
  const rc_status status =
      context->device()->op_supported(op, values_, message);
  if (status == RC_E_UNSUPPORTED) {
    run_on_fallback(context->fall_back(op_name(op.code), message.text()),
                    result, work.spent_ns);
    return;
  }
  check(*context->device(), "say whether it supports an op", status, message);
  run_kept(*context, result, work.spent_ns);
}

}  // namespace rc::compute
