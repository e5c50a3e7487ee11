// Memory on the device.
#pragma once

#include <cstdint>

#include "vulkan/api.h"
#include "vulkan/device.h"

namespace rc::vulkan {

enum class MemoryUse {
  kDevice,    // where the device is fastest
  kToDevice,  // written by the host, read by the device
  kToHost     // written by the device, read by the host
};

// A buffer with memory of its own. Reading and writing wait for the end of
// copies; the caller sees to it that no run uses the bytes meanwhile.
class Buffer {
 public:
  Buffer() = default;
  // Not zeroed. Throws RC_E_DEVICE_MEMORY if there is no room.
  Buffer(Device& device, uint64_t bytes, MemoryUse use);

  VkBuffer get() const { return buffer_.get(); }
  uint64_t bytes() const { return bytes_; }
  // nullptr unless the host sees the memory; it is coherent then.
  uint8_t* mapped() const { return mapped_; }

  void write(uint64_t offset, const void* data, uint64_t bytes);
  void read(uint64_t offset, void* data, uint64_t bytes) const;
  void clear();

 private:
  Device* device_ = nullptr;
  uint64_t bytes_ = 0;
  uint8_t* mapped_ = nullptr;
  Handle<VkDeviceMemory> memory_;
  Handle<VkBuffer> buffer_;
};

// Within a buffer or between two; the ranges do not overlap.
void copy(Device& device, const Buffer& target, uint64_t target_offset,
          const Buffer& source, uint64_t source_offset, uint64_t bytes);

}  // namespace rc::vulkan
