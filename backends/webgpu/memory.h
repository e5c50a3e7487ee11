// Memory on the device.
#pragma once

#include <cstdint>

#include "gpu/buffer.h"
#include "webgpu/webgpu_device.h"

namespace rc::webgpu {

class Buffer final : public gpu::Buffer {
 public:
  // Throws RC_E_DEVICE_MEMORY if there is no room.
  Buffer(WebGpuDevice& device, uint64_t bytes);

  abi::Buffer get() const { return buffer_.get(); }

  void write(uint64_t offset, const void* data, uint64_t bytes) override;
  void read(uint64_t offset, void* data, uint64_t bytes) const override;
  void clear() override;

 private:
  WebGpuDevice& device_;
  BufferHandle buffer_;
};

// Within a buffer or between two; the ranges do not overlap.
void copy(WebGpuDevice& device, Buffer& target, uint64_t target_offset,
          const Buffer& source, uint64_t source_offset, uint64_t bytes);

}  // namespace rc::webgpu
