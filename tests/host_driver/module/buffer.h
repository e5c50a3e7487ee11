// Memory of the host as that of a device.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>

#include "gpu/buffer.h"

namespace rc::host {

// Held while a kernel runs: what a group shares is static, and what a kernel is
// not to touch is forbidden to all.
std::mutex& running();

class Buffer final : public gpu::Buffer {
 public:
  // Filled with NaNs, which show in the results of reads before the first
  // write.
  explicit Buffer(uint64_t bytes);
  ~Buffer() override;

  std::byte* data() const { return data_; }

  void write(uint64_t offset, const void* data, uint64_t bytes) override;
  void read(uint64_t offset, void* data, uint64_t bytes) const override;
  void clear() override;
  std::byte* host() const override { return data_; }

 private:
  std::byte* data_;
};

inline std::byte* data_of(const gpu::Buffer* buffer) {
  return static_cast<const Buffer*>(buffer)->data();
}

// While it lives, the rest of the buffers that these are parts of is forbidden.
class BoundAlone {
 public:
  explicit BoundAlone(std::span<const gpu::Region> bound);
  ~BoundAlone();
  BoundAlone(const BoundAlone&) = delete;
  BoundAlone& operator=(const BoundAlone&) = delete;

 private:
  std::span<const gpu::Region> bound_;
};

}  // namespace rc::host
