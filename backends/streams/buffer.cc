#include "streams/buffer.h"

#include <algorithm>
#include <cstring>

namespace rc::streams {

Buffer::Buffer(Driver& driver, StreamHandle transfers, uint64_t bytes,
               gpu::MemoryUse use)
    : gpu::Buffer(bytes),
      driver_(driver),
      transfers_(transfers),
      is_host_memory_(use == gpu::MemoryUse::kPinned) {
  const Current current(driver_);
  // No driver has memory of 0 bytes.
  const uint64_t taken = std::max<uint64_t>(bytes, 1);
  if (use != gpu::MemoryUse::kDevice) host_ = driver_.allocate_pinned(taken);
  if (is_host_memory_) {
    address_ = reinterpret_cast<Address>(host_);
    return;
  }
  try {
    address_ = driver_.allocate(taken);
  } catch (...) {
    if (host_ != nullptr) driver_.release_pinned(host_);
    throw;
  }
}

Buffer::~Buffer() {
  const MaybeCurrent current(driver_);
  if (!current) return;
  if (!is_host_memory_) driver_.release(address_);
  if (host_ != nullptr) driver_.release_pinned(host_);
}

void Buffer::write(uint64_t offset, const void* data, uint64_t bytes) {
  if (bytes == 0) return;
  if (is_host_memory_) {
    std::memcpy(host_ + offset, data, bytes);
    return;
  }
  const Current current(driver_);
  driver_.copy_to_device(address_ + offset, data, bytes, transfers_);
  driver_.synchronize(transfers_);
}

void Buffer::read(uint64_t offset, void* data, uint64_t bytes) const {
  if (bytes == 0) return;
  if (is_host_memory_) {
    std::memcpy(data, host_ + offset, bytes);
    return;
  }
  const Current current(driver_);
  driver_.copy_to_host(data, address_ + offset, bytes, transfers_);
  driver_.synchronize(transfers_);
}

void Buffer::clear() {
  if (bytes() == 0) return;
  if (is_host_memory_) {
    std::memset(host_, 0, bytes());
    return;
  }
  const Current current(driver_);
  driver_.clear(address_, bytes(), transfers_);
  driver_.synchronize(transfers_);
}

}  // namespace rc::streams
