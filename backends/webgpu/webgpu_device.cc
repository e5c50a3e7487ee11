#include "webgpu/webgpu_device.h"

#include <cstring>
#include <utility>
#include <vector>

#include "base/error.h"
#include "gpu/dispatch.h"
#include "gpu/row_appender.h"
#include "tensor/formats/coded_formats.h"
#include "tensor/value.h"
#include "webgpu/memory.h"
#include "webgpu/pipelines.h"
#include "webgpu/recording.h"
#include "webgpu/shaders.h"
#include "webgpu/tuning.h"

namespace rc::webgpu {
namespace {

struct DeviceAnswer {
  bool given = false;
  abi::Device device = nullptr;
  std::string message;
};

void take_device(uint32_t status, abi::Device device, abi::Text message,
                 void* answer_, void*) {
  auto* answer = static_cast<DeviceAnswer*>(answer_);
  answer->given = true;
  answer->device = device;
  if (status != abi::kSuccess) answer->message = string(message);
}

// Of the kernel of an op that binds the most of them, if they may be too many.
uint32_t storage_buffers_of(const gpu::Device& device, const Op& op,
                            std::span<const rc_plugin_value> values) {
  switch (op.code) {
    case RC_OP_ATTENTION:
    case RC_OP_GENERAL_ATTENTION: {
      // Queries, positions, sequences, pages and the result; see aliases_of.
      uint32_t count = 5;
      for (const int input : {6, 7, 8, 9}) count += op.inputs[input] >= 0;
      uint64_t ranges = 0;
      int caches = 0;
      for (const int input : {1, 2}) {
        if (op.inputs[input] < 0) continue;
        ++caches;
        ranges = std::max(
            ranges, gpu::ranges_of(device, values[op.inputs[input]]).count);
      }
      // More are refused for what they are.
      return count + caches * static_cast<uint32_t>(std::min<uint64_t>(
                                  ranges, gpu::kCacheRanges));
    }
    case RC_OP_SELECTIVE_SCAN:
      return storage_buffers(gpu::Kernel::kSelectiveScan);
    case RC_OP_CHANNEL_SCAN:
      return storage_buffers(gpu::Kernel::kChannelScan);
    case RC_OP_DELTA_RULE:
      return storage_buffers(gpu::Kernel::kDeltaRule);
    case RC_OP_FADING_STATE:
      return storage_buffers(gpu::Kernel::kFadingState);
    default:
      return storage_buffers(gpu::Kernel::kLinear);
  }
}

}  // namespace

// Callbacks may come when the device is gone, so that it stays.
WebGpuDevice::State* WebGpuDevice::new_state() {
  static auto* const all = new std::vector<std::unique_ptr<State>>;
  const Lock lock;
  all->push_back(std::make_unique<State>());
  return all->back().get();
}

WebGpuDevice::WebGpuDevice(int index, const rc_plugin_open_options&)
    : state_(new_state()) {
  const Found& found = adapter(index);
  const AdapterHandle from = request(found);
  {
    const Lock lock;
    if (wgpu().AdapterGetLimits(from.get(), &limits_) != abi::kSuccess) {
      fail(RC_E_DEVICE, found.name, " does not report its limits");
    }
  }
  limits_.next = nullptr;
  load_shaders();
  tuning_ = choose_tuning(limits_, found.kind == abi::kCpu);
  speed = found.kind == abi::kCpu ? 1e9 : 1e12;  // until it is measured
  open(from.get());
  {
    const Lock lock;
    queue_ = QueueHandle(wgpu().DeviceGetQueue(device_));
  }
  pipelines_ = std::make_unique<Pipelines>(*this);
}

void WebGpuDevice::open(abi::Adapter from) {
  abi::DeviceDescription description = {};
  description.limits = &limits_;
  description.lost = {nullptr, abi::kAnyTime, take_loss, state_, nullptr};
  description.error = {nullptr, take_error, state_, nullptr};
  DeviceAnswer answer;
  {
    const Lock lock;
    wgpu().AdapterRequestDevice(
        from, &description,
        {nullptr, abi::kWithEvents, take_device, &answer, nullptr});
  }
  process_until([&] { return answer.given; });
  if (answer.device == nullptr) {
    fail(RC_E_DEVICE, "the device does not open: ", answer.message);
  }
  device_ = answer.device;
}

WebGpuDevice::~WebGpuDevice() {
  pipelines_.reset();
  queue_ = {};
  const Lock lock;
  wgpu().DeviceDestroy(device_);
  wgpu().DeviceRelease(device_);
}

void WebGpuDevice::take_error(const abi::Device*, uint32_t type,
                              abi::Text message, void* state_, void*) {
  const Lock lock;
  State& state = *static_cast<State*>(state_);
  if (!state.message.empty()) return;
  state.message = string(message);
  if (state.message.empty()) state.message = "an error without a message";
  state.out_of_memory = type == abi::kErrorOutOfMemory;
}

void WebGpuDevice::take_loss(const abi::Device*, uint32_t, abi::Text message,
                             void* state_, void*) {
  const Lock lock;
  State& state = *static_cast<State*>(state_);
  state.lost = true;
  state.lost_message = string(message);
}

void WebGpuDevice::check(const char* what) const {
  const Lock lock;
  if (!state_->message.empty() && !state_->lost) {
    // A loss may be reported only now; wgpu-native reports commands for a lost
    // device as errors of the caller.
    process_events();
    if (state_->message.find("device is lost") != std::string::npos) {
      state_->lost = true;
      state_->lost_message = state_->message;
    }
  }
  if (state_->lost) {
    fail(RC_E_DEVICE_LOST, what,
         ": the device was lost: ", state_->lost_message, "; open it again");
  }
  if (state_->message.empty()) return;
  const std::string message = std::exchange(state_->message, "");
  fail(state_->out_of_memory ? RC_E_DEVICE_MEMORY : RC_E_DEVICE, what, ": ",
       message);
}

BufferHandle WebGpuDevice::make_buffer(uint64_t bytes, uint64_t use) const {
  if (bytes > limits_.buffer_bytes) {
    fail(RC_E_DEVICE_MEMORY, "a buffer of ", bytes,
         " bytes is too large; the device allows ", limits_.buffer_bytes);
  }
  const Lock lock;
  abi::BufferDescription description = {};
  description.use = use;
  description.bytes = std::max<uint64_t>((bytes + 15) / 16 * 16, 16);
  BufferHandle buffer(wgpu().DeviceCreateBuffer(device_, &description));
  check("a buffer cannot be made");
  if (!buffer) {
    fail(RC_E_DEVICE_MEMORY, "there is no room for a buffer of ", bytes,
         " bytes");
  }
  return buffer;
}

void WebGpuDevice::finish(const EncoderHandle& encoder) {
  const abi::Description nothing = {};
  const CommandsHandle commands(
      wgpu().CommandEncoderFinish(encoder.get(), &nothing));
  check("commands cannot be recorded");
  const abi::Commands all[] = {commands.get()};
  wgpu().QueueSubmit(queue_.get(), 1, all);
  check("commands cannot be submitted");
}

void WebGpuDevice::read(abi::Buffer buffer, uint64_t bytes, void* data) const {
  struct Answer {
    bool given = false;
    uint32_t status = 0;
    std::string message;
  };
  // Lives on if the wait for it is given up.
  auto answer = std::make_shared<Answer>();
  const auto take = [](uint32_t status, abi::Text message, void* first, void*) {
    const std::unique_ptr<std::shared_ptr<Answer>> answer(
        static_cast<std::shared_ptr<Answer>*>(first));
    (*answer)->given = true;
    (*answer)->status = status;
    (*answer)->message = string(message);
  };
  {
    const Lock lock;
    wgpu().BufferMapAsync(buffer, abi::kMapRead, 0, bytes,
                          {nullptr, abi::kWithEvents, take,
                           new std::shared_ptr<Answer>(answer), nullptr});
  }
  process_until([&] { return answer->given || lost(); });
  const Lock lock;
  check("a buffer cannot be read");
  if (answer->status != abi::kSuccess) {
    fail(RC_E_DEVICE, "a buffer cannot be read: ", answer->message);
  }
  std::memcpy(data, wgpu().BufferGetConstMappedRange(buffer, 0, bytes), bytes);
  wgpu().BufferUnmap(buffer);
}

std::unique_ptr<gpu::Buffer> WebGpuDevice::allocate(uint64_t bytes,
                                                    gpu::MemoryUse use) {
  if (use == gpu::MemoryUse::kPinned) {
    fail(RC_E_UNSUPPORTED,
         "WebGPU shows the host no memory while the device may use it; "
         "rc_tensor_from_data and rc_tensor_read take any memory");
  }
  return std::make_unique<Buffer>(*this, bytes);
}

void WebGpuDevice::copy(gpu::Buffer& target, uint64_t target_offset,
                        gpu::Buffer& source, uint64_t source_offset,
                        uint64_t bytes) {
  webgpu::copy(*this, static_cast<Buffer&>(target), target_offset,
               static_cast<Buffer&>(source), source_offset, bytes);
}

void WebGpuDevice::check_supported(
    const Op& op, std::span<const rc_plugin_value> values) const {
  // COPY is of bytes, and weights are expanded.
  if (op.code != RC_OP_COPY && is_tensor_op(op, values)) {
    for (const int32_t input : op.inputs) {
      if (input < 0 || !has_codebook(values[input].dtype)) continue;
      fail(RC_E_UNSUPPORTED, op_name(op.code), " of ",
           value_text(values[input]), ": shaders have no codebooks");
    }
  }
  const uint32_t buffers = storage_buffers_of(*this, op, values);
  if (buffers > limits_.storage_buffers) {
    fail(RC_E_UNSUPPORTED, op_name(op.code), " binds ", buffers,
         " buffers; the device allows ", limits_.storage_buffers);
  }
  gpu::check_supported(*this, op, values);
}

std::unique_ptr<gpu::Recording> WebGpuDevice::record(
    const gpu::PlacedProgram& program) {
  return std::make_unique<Recording>(*this, program);
}

}  // namespace rc::webgpu
