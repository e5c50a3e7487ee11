// Memory on the device.
#pragma once

#include <cstdint>

#include "gpu/buffer.h"
#include "vulkan/api.h"
#include "vulkan/vulkan_device.h"

namespace rc::vulkan {

// A buffer and its memory.
class Buffer final : public gpu::Buffer {
 public:
  // Not zeroed. Throws RC_E_DEVICE_MEMORY if there is no room.
  Buffer(VulkanDevice& device, uint64_t bytes, gpu::MemoryUse use);

  VkBuffer get() const { return buffer_.get(); }
  // nullptr unless the host sees the memory; it is coherent then.
  uint8_t* mapped() const { return mapped_; }

  void write(uint64_t offset, const void* data, uint64_t bytes) override;
  void read(uint64_t offset, void* data, uint64_t bytes) const override;
  void clear() override;
  std::byte* host() const override {
    return reinterpret_cast<std::byte*>(mapped_);
  }

 private:
  VulkanDevice& device_;
  uint8_t* mapped_ = nullptr;
  Handle<VkDeviceMemory> memory_;
  Handle<VkBuffer> buffer_;
};

// Within a buffer or between two; the ranges do not overlap.
void copy(VulkanDevice& device, const Buffer& target, uint64_t target_offset,
          const Buffer& source, uint64_t source_offset, uint64_t bytes);

}  // namespace rc::vulkan
