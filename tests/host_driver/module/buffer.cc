#include "buffer.h"

#include <cstring>
#include <new>

#include "address_sanitizer.h"
#include "base/error.h"

namespace rc::host {
namespace {

// Granules of the address sanitizer begin where buffers do.
constexpr std::align_val_t kAlignment{64};

}  // namespace

std::mutex& running() {
  static std::mutex mutex;
  return mutex;
}

Buffer::Buffer(uint64_t bytes) : gpu::Buffer(bytes) {
  data_ =
      static_cast<std::byte*>(::operator new(bytes, kAlignment, std::nothrow));
  if (data_ == nullptr) {
    fail(RC_E_DEVICE_MEMORY, "no memory for a buffer of ", bytes, " bytes");
  }
  std::memset(data_, 0xFF, bytes);
}

Buffer::~Buffer() { ::operator delete(data_, kAlignment); }

void Buffer::write(uint64_t offset, const void* data, uint64_t bytes) {
  const std::lock_guard lock(running());
  if (bytes > 0) std::memcpy(data_ + offset, data, bytes);
}

void Buffer::read(uint64_t offset, void* data, uint64_t bytes) const {
  const std::lock_guard lock(running());
  if (bytes > 0) std::memcpy(data, data_ + offset, bytes);
}

void Buffer::clear() {
  const std::lock_guard lock(running());
  if (bytes() > 0) std::memset(data_, 0, bytes());
}

BoundAlone::BoundAlone(std::span<const gpu::Region> bound) : bound_(bound) {
  for (const gpu::Region& region : bound_) {
    forbid(data_of(region.buffer), region.buffer->bytes());
  }
  for (const gpu::Region& region : bound_) {
    allow(data_of(region.buffer) + region.offset, region.bytes);
  }
}

BoundAlone::~BoundAlone() {
  for (const gpu::Region& region : bound_) {
    allow(data_of(region.buffer), region.buffer->bytes());
  }
}

}  // namespace rc::host
