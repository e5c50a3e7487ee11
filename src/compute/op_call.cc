#include "compute/op_call.h"

#include <algorithm>

#include "base/error.h"
#include "runtime/program.h"
#include "tensor/op.h"

namespace rc::compute {
namespace {

rc_plugin_value make_value(DType dtype, const Shape& shape, size_t index,
                           uint64_t offset) {
  rc_plugin_value value = {};
  value.dtype = dtype;
  value.rank = static_cast<int32_t>(shape.size());
  std::copy(shape.begin(), shape.end(), value.shape);
  value.storage = RC_STORAGE_CACHE;
  value.index = static_cast<int32_t>(index);
  value.offset = offset;
  return value;
}

}  // namespace

OpCall::OpCall(int32_t code) { op.code = code; }

void OpCall::add(const Tensor& tensor, const Shape& as) {
  op.inputs[slots_++] = static_cast<int32_t>(operands_.size());
  operands_.push_back({tensor, make_value(tensor.dtype, as, operands_.size(),
                                          tensor.byte_offset())});
}

void OpCall::add_absent() { ++slots_; }

void OpCall::run_on(
    const std::shared_ptr<runtime::Device>& device,
    const std::vector<rc_plugin_value>& values,
    const std::vector<std::shared_ptr<runtime::Buffer>>& buffers,
    int64_t timeout_ms) const {
  runtime::ProgramDescription description;
  description.values = values;
  description.ops = {op};
  description.caches = values;
  const auto program = runtime::Program::compile(device, std::move(description),
                                                 {1, 0, 0}, {}, buffers);
  runtime::RunArguments arguments;
  arguments.rows = 1;
  program->run(arguments, timeout_ms);
}

void OpCall::run_on_fallback(const std::shared_ptr<runtime::Device>& device,
                             std::vector<rc_plugin_value> values,
                             const Tensor& result) const {
  std::vector<std::shared_ptr<runtime::Buffer>> buffers;
  std::vector<std::byte> bytes;
  for (size_t i = 0; i < values.size(); ++i) {
    bytes.resize(value_bytes(values[i], {}).value());
    buffers.push_back(device->create_buffer(bytes.size()));
    if (i == operands_.size()) break;
    operands_[i].tensor.storage->buffer()->download(values[i].offset,
                                                    bytes.data(), bytes.size());
    buffers[i]->upload(0, bytes.data(), bytes.size());
    values[i].offset = 0;
  }
  run_on(device, values, buffers, result.context->timeout_ms());
  buffers.back()->download(0, bytes.data(), bytes.size());
  result.storage->buffer()->upload(0, bytes.data(), bytes.size());
}

Tensor OpCall::run(DType dtype, const Shape& as, const Shape& shape) {
  const std::shared_ptr<Context>& context = operands_.front().tensor.context;
  for (const Operand& operand : operands_) {
    const auto& other = operand.tensor.context->device();
    if (other != context->device()) {
      fail(RC_E_INVALID_ARGUMENT, "the tensors of an op live on ",
           context->device()->id(), " and on ",
           other->id() == context->device()->id() ? "another opening of it"
                                                  : other->id(),
           "; read one of them and make it anew where the other is");
    }
  }
  std::vector<rc_plugin_value> values;
  std::vector<std::shared_ptr<runtime::Buffer>> buffers;
  for (const Operand& operand : operands_) {
    values.push_back(operand.value);
    buffers.push_back(operand.tensor.storage->buffer());
  }
  op.outputs[0] = static_cast<int32_t>(values.size());
  values.push_back(make_value(dtype, as, values.size(), 0));
  check_op(op, values);
  Tensor result = make_tensor(context, dtype, shape);
  buffers.push_back(result.storage->buffer());

  runtime::Message message;
  const rc_status status =
      context->device()->op_supported(op, values.data(), message);
  if (status == RC_E_UNSUPPORTED) {
    run_on_fallback(context->fall_back(op_name(op.code), message.text()),
                    std::move(values), result);
    return result;
  }
  check(*context->device(), "say whether it supports an op", status, message);
  run_on(context->device(), values, buffers, context->timeout_ms());
  return result;
}

}  // namespace rc::compute
