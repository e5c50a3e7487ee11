// Memory on the device.
#pragma once

#include <cstdint>

#include "gpu/buffer.h"
#include "opencl/api.h"
#include "opencl/opencl_device.h"

namespace rc::opencl {

class Buffer final : public gpu::Buffer {
 public:
  // Not zeroed. Throws RC_E_DEVICE_MEMORY.
  Buffer(const OpenClDevice& device, uint64_t bytes,
         gpu::MemoryUse use = gpu::MemoryUse::kDevice);
  ~Buffer() override;

  cl_mem get() const { return memory_.get(); }

  void write(uint64_t offset, const void* data, uint64_t bytes) override;
  void read(uint64_t offset, void* data, uint64_t bytes) const override;
  void clear() override;
  // Mapped until destruction: drivers transfer from and to a mapped region
  // without an extra copy.
  std::byte* host() const override { return host_; }

 private:
  cl_command_queue transfers_;
  Memory memory_;
  std::byte* host_ = nullptr;
};

// The memory of a buffer of this backend; nullptr: none.
inline cl_mem memory_of(const gpu::Buffer* buffer) {
  return buffer == nullptr ? nullptr
                           : static_cast<const Buffer*>(buffer)->get();
}

}  // namespace rc::opencl
