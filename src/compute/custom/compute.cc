// Calls of custom ops on devices.
#include <algorithm>
#include <vector>

#include "base/error.h"
#include "compute/at_once.h"
#include "compute/custom/function_call.h"
#include "compute/custom/op.h"
#include "compute/graph_recording.h"
#include "compute/ops.h"

namespace rc::compute {
namespace {

// Bindings of SPIR-V kernels begin at multiples of this, which every device of
// Vulkan allows (the largest minStorageBufferOffsetAlignment of the
// specification, table 53).
constexpr uint64_t kBindingAlignment = 256;

bool has_host_memory(const runtime::Device& device) {
  return device.plugin().buffer_memory != nullptr;
}

// Kernels and functions get an address for tensors without elements, too.
std::shared_ptr<Storage> no_elements(const Context& context) {
  return std::make_shared<Storage>(context, kBindingAlignment, true);
}

void run_kernel(const CustomCall& call, const CustomWay& way, Context& context,
                std::span<const Tensor> tensors, int64_t timeout_ms,
                int64_t& spent_ns) {
  std::vector<rc_plugin_buffer*> buffers;
  std::vector<uint64_t> offsets, bytes;
  std::vector<Tensor> kept;  // aligned copies
  std::vector<std::shared_ptr<Storage>> nothing;
  const size_t inputs = call.inputs().size();
  for (size_t i = 0; i < tensors.size(); ++i) {
    const Tensor* tensor = &tensors[i];
    if (tensor->empty()) {
      nothing.push_back(no_elements(context));
      buffers.push_back(nothing.back()->buffer()->handle());
      offsets.push_back(0);
      bytes.push_back(kBindingAlignment);
      continue;
    }
    if (i < inputs && way.language == RC_KERNEL_SPIRV &&
        tensor->byte_offset() % kBindingAlignment != 0) {
      kept.push_back(copy(*tensor));
      tensor = &kept.back();
    }
    buffers.push_back(tensor->storage->buffer()->handle());
    offsets.push_back(tensor->byte_offset());
    bytes.push_back(tensor->bytes());
  }
  const std::vector<uint32_t> words = kernel_words(
      call.op->name(), call.op->signature(), call.numbers, call.attributes);
  const std::array<uint32_t, 3> groups = call.op->groups(call);
  if (groups[0] == 0 || groups[1] == 0 || groups[2] == 0) return;
  rc_plugin_kernel_run run = {};
  run.buffers = buffers.data();
  run.offsets = offsets.data();
  run.bytes = bytes.data();
  run.parameters = words.data();
  std::copy(groups.begin(), groups.end(), run.groups);
  context.device()->run_kernel(way.kernel, run, timeout_ms, spent_ns);
}

void run_function_here(const CustomCall& call, Context& context,
                       std::span<const Tensor> tensors, const CustomStop& stop,
                       int64_t timeout_ms, int64_t& spent_ns) {
  std::vector<void*> memory;
  for (const Tensor& tensor : tensors) {
    memory.push_back(tensor.empty() ? nullptr
                                    : tensor.storage->buffer()->memory() +
                                          tensor.byte_offset());
  }
  call_function(call, *context.device(), memory, stop, timeout_ms, spent_ns);
}

void run_function_elsewhere(const CustomCall& call, const Context& context,
                            runtime::Device& device,
                            std::span<const Tensor> tensors,
                            const CustomStop& stop, int64_t timeout_ms,
                            int64_t& spent_ns) {
  uint64_t copied = 0;
  for (const CustomValue& value : call.values) copied += value.bytes;
  Paid paid(context.pool()->account(), copied);
  paid.use();
  // Numbers of 8 bytes at most: aligned for all types.
  std::vector<std::vector<double>> copies;
  std::vector<void*> memory;
  const size_t inputs = call.inputs().size();
  for (size_t i = 0; i < tensors.size(); ++i) {
    const uint64_t bytes = call.values[i].bytes;
    copies.emplace_back(bytes / sizeof(double) + 1);
    memory.push_back(copies.back().data());
    if (i >= inputs || tensors[i].empty()) continue;
    tensors[i].storage->buffer()->download(tensors[i].byte_offset(),
                                           memory.back(), bytes);
  }
  call_function(call, device, memory, stop, timeout_ms, spent_ns);
  for (size_t i = inputs; i < tensors.size(); ++i) {
    if (tensors[i].empty()) continue;
    tensors[i].storage->buffer()->upload(tensors[i].byte_offset(), memory[i],
                                         call.values[i].bytes);
  }
}

CustomValue value_of(const Tensor& tensor) {
  CustomValue value;
  value.dtype = tensor.dtype;
  value.shape = tensor.shape;
  return value;
}

// All on the device of the first one.
std::vector<Tensor> gather(const CustomOp& op, std::span<const Tensor> inputs,
                           const std::shared_ptr<Context>& context) {
  std::vector<Tensor> found;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Tensor& input = inputs[i];
    if (input.recorded()) {
      found.push_back(dense(input));
      continue;
    }
    const auto& device = input.context->device();
    if (context->placement() != nullptr &&
        input.context->placement() == context->placement()) {
      found.push_back(dense(move(input, context)));
    } else if (device == context->device()) {
      found.push_back(dense(input));
    } else {
      fail(RC_E_INVALID_ARGUMENT, op.name(), ": ",
           op.signature().tensor_name(i), " lives on ", device->id(),
           ", but the first input on ",
           device->id() == context->device()->id() ? "another opening of it"
                                                   : context->device()->id(),
           "; rc_tensor_to moves one of them to where the other is");
    }
  }
  return found;
}

}  // namespace

CustomWay way_of(const CustomCall& call, Context& context) {
  const CustomOp& op = *call.op;
  const std::shared_ptr<runtime::Device>& device = context.device();
  CustomWay way;
  way.language = device->kernel_language();
  const std::string lacking = op.lacking_kernel(way.language);
  if (lacking.empty()) {
    way.kernel = op.kernel(device, way.language, call.values);
    return way;
  }
  if (!op.has_function()) {
    fail(RC_E_UNSUPPORTED, op.name(), " cannot run on ", device->id(), ": ",
         lacking, ", and it has no function");
  }
  if (!has_host_memory(*device)) {
    way.elsewhere = context.fall_back(op.name().c_str(), lacking);
  }
  return way;
}

void compute_custom(const CustomCall& call, const CustomWay& way,
                    const std::shared_ptr<Context>& context,
                    std::span<const Tensor> inputs,
                    std::span<const Tensor> outputs, const CustomStop& stop,
                    int64_t timeout_ms, int64_t& spent_ns) {
  if (call.makes_nothing()) return;
  std::vector<Tensor> tensors(inputs.begin(), inputs.end());
  tensors.insert(tensors.end(), outputs.begin(), outputs.end());
  if (way.kernel != nullptr) {
    run_kernel(call, way, *context, tensors, timeout_ms, spent_ns);
  } else if (way.elsewhere != nullptr) {
    run_function_elsewhere(call, *context, *way.elsewhere, tensors, stop,
                           timeout_ms, spent_ns);
  } else {
    run_function_here(call, *context, tensors, stop, timeout_ms, spent_ns);
  }
}

std::vector<Tensor> custom(const CustomOp& op, std::span<const Tensor> inputs,
                           std::span<const double> attributes) {
  std::vector<CustomValue> values;
  GraphRecording* recording = nullptr;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i].outline()) {
      fail(RC_E_INVALID_ARGUMENT, op.name(), ": input ", i,
           " is an outline, which has no numbers");
    }
    values.push_back(value_of(inputs[i]));
    if (recording == nullptr && inputs[i].recorded()) {
      recording = inputs[i].storage->recording().get();
    }
  }
  CustomCall call = op.call(values, attributes);
  const std::shared_ptr<Context> context =
      recording != nullptr ? recording->context() : inputs[0].context;
  std::vector<Tensor> outputs;
  if (recording != nullptr && !call.makes_nothing()) {
    std::vector<Tensor> gathered = gather(op, inputs, context);
    return recording->add(std::move(call), gathered);
  }
  for (const CustomValue& value : call.outputs()) {
    outputs.push_back(make_result(context, value.dtype, value.shape));
  }
  if (call.makes_nothing()) return outputs;
  const std::vector<Tensor> gathered = gather(op, inputs, context);
  const CustomWay way = way_of(call, *context);
  Work work(*context);
  compute_custom(call, way, context, gathered, outputs, {},
                 context->timeout_ms(), work.spent_ns);
  return outputs;
}

}  // namespace rc::compute
