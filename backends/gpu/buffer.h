// Memory on a device.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace rc::gpu {

enum class MemoryUse {
  kDevice,    // where the device is fastest
  kToDevice,  // written by the host, read by the device
  kToHost,    // written by the device, read by the host
  kPinned     // of the host's, which the device moves bytes from and to
};

// A buffer of a driver. Reading and writing wait for the end of copies; the
// caller sees to it that no run uses the bytes meanwhile. Threads: any.
class Buffer {
 public:
  explicit Buffer(uint64_t bytes) : bytes_(bytes) {}
  virtual ~Buffer() = default;
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  uint64_t bytes() const { return bytes_; }
  // No other buffer has had it, also where this one has taken the place of one
  // that is gone.
  uint64_t number() const { return number_; }

  virtual void write(uint64_t offset, const void* data, uint64_t bytes) = 0;
  virtual void read(uint64_t offset, void* data, uint64_t bytes) const = 0;
  virtual void clear() = 0;
  // Of MemoryUse::kPinned: where the host has it.
  virtual std::byte* host() const { return nullptr; }

 private:
  static inline std::atomic<uint64_t> next_number_ = 0;
  const uint64_t number_ = next_number_++;
  uint64_t bytes_;
};

// Bytes of a buffer.
struct Region {
  const Buffer* buffer = nullptr;
  uint64_t offset = 0;
  uint64_t bytes = 0;
  // Of a program's cache, which a run may bring: its index; else -1.
  int32_t cache = -1;

  // `size` bytes of it from `begin` on.
  Region part(uint64_t begin, uint64_t size) const {
    return {buffer, offset + begin, size, cache};
  }
  bool overlaps(const Region& other) const {
    return buffer == other.buffer && offset < other.offset + other.bytes &&
           other.offset < offset + bytes;
  }
};

}  // namespace rc::gpu
