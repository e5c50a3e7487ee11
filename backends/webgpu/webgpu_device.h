// An opened device: its queue, limits and pipelines, and what went wrong on it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "gpu/device.h"
#include "gpu/word_packing.h"
#include "runcible/plugin.h"
#include "webgpu/instance.h"
#include "webgpu/library.h"

namespace rc::webgpu {

class Pipelines;

class WebGpuDevice final : public gpu::Device {
 public:
  WebGpuDevice(int index, const rc_plugin_open_options& options);
  ~WebGpuDevice() override;
  WebGpuDevice(const WebGpuDevice&) = delete;
  WebGpuDevice& operator=(const WebGpuDevice&) = delete;

  abi::Device get() const { return device_; }
  abi::Queue queue() const { return queue_.get(); }
  const abi::Limits& limits() const { return limits_; }
  Pipelines& pipelines() { return *pipelines_; }

  const gpu::Tuning& tuning() const override { return tuning_; }
  const gpu::Packing& packing() const override { return packing_; }
  uint64_t alignment() const override {
    return std::max<uint64_t>(16, limits_.storage_alignment);
  }
  uint64_t largest_buffer() const override { return limits_.buffer_bytes; }
  uint32_t most_groups(int) const override {
    return std::min(limits_.workgroups, tuning_.groups);
  }
  std::unique_ptr<gpu::Buffer> allocate(uint64_t bytes,
                                        gpu::MemoryUse use) override;
  void copy(gpu::Buffer& target, uint64_t target_offset, gpu::Buffer& source,
            uint64_t source_offset, uint64_t bytes) override;
  void check_supported(const Op& op,
                       std::span<const rc_plugin_value> values) const override;
  std::unique_ptr<gpu::Recording> record(
      const gpu::PlacedProgram& program) override;

  // A buffer for such uses, of whole quads.
  BufferHandle make_buffer(uint64_t bytes, uint64_t use) const;
  // Commands that `record` gives an encoder, submitted.
  template <class Record>
  void submit(Record record);
  // Bytes of a buffer that can be mapped, as soon as they are there.
  void read(abi::Buffer buffer, uint64_t bytes, void* data) const;
  bool lost() const { return state_->lost; }
  // Throws what went wrong since it was asked last: RC_E_DEVICE_LOST, which
  // stays so, RC_E_DEVICE_MEMORY or RC_E_DEVICE. `what` failed.
  void check(const char* what) const;

 private:
  // The state that callbacks report.
  struct State {
    bool lost = false;
    bool out_of_memory = false;
    std::string lost_message;
    std::string message;  // the first
  };
  static State* new_state();
  static void take_error(const abi::Device*, uint32_t type, abi::Text message,
                         void* state, void*);
  static void take_loss(const abi::Device*, uint32_t reason, abi::Text message,
                        void* state, void*);
  void open(abi::Adapter adapter);
  void finish(const EncoderHandle& encoder);

  State* state_;
  abi::Limits limits_ = {};
  gpu::Tuning tuning_;
  gpu::WordPacking packing_;
  abi::Device device_ = nullptr;
  QueueHandle queue_;
  std::unique_ptr<Pipelines> pipelines_;
};

template <class Record>
void WebGpuDevice::submit(Record record) {
  const Lock lock;
  const abi::Description nothing = {};
  const EncoderHandle encoder(
      wgpu().DeviceCreateCommandEncoder(device_, &nothing));
  record(encoder.get());
  finish(encoder);
}

}  // namespace rc::webgpu
