// Memory of a device, or of the host where the device can copy from and to it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "gpu/buffer.h"
#include "streams/driver.h"

namespace rc::streams {

class Buffer final : public gpu::Buffer {
 public:
  // `transfers`: the stream of copies that are waited for. Both live longer.
  Buffer(Driver& driver, StreamHandle transfers, uint64_t bytes,
         gpu::MemoryUse use);
  ~Buffer() override;

  // Where the device has it; of kPinned, as unified addressing has it.
  Address address() const { return address_; }
  // Of kToDevice and kToHost: the same bytes for the host, through which runs
  // move them without waiting. Of kPinned: the buffer itself.
  std::byte* host() const override { return host_; }

  void write(uint64_t offset, const void* data, uint64_t bytes) override;
  void read(uint64_t offset, void* data, uint64_t bytes) const override;
  void clear() override;

 private:
  Driver& driver_;
  StreamHandle transfers_;
  Address address_ = 0;
  std::byte* host_ = nullptr;
  bool is_host_memory_;
};

inline const Buffer& buffer_of(const gpu::Region& region) {
  return static_cast<const Buffer&>(*region.buffer);
}

}  // namespace rc::streams
