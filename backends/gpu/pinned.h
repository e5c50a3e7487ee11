// Memory of the host's that a device moves bytes from and to by itself.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>

#include "gpu/buffer.h"

namespace rc::gpu {

class PinnedMemory;

// The pinned memory of an open device, by address. Thread-safe.
class PinnedList {
 public:
  // The buffer that holds the bytes, all of them, and where they begin in it;
  // nullptr: it is any memory.
  Buffer* find(const void* data, uint64_t bytes, uint64_t* offset);

 private:
  friend class PinnedMemory;
  std::mutex mutex_;
  std::map<const std::byte*, Buffer*> buffers_;
};

class PinnedMemory {
 public:
  // Of a buffer of MemoryUse::kPinned.
  PinnedMemory(std::shared_ptr<PinnedList> list,
               std::unique_ptr<Buffer> buffer);
  ~PinnedMemory();
  PinnedMemory(const PinnedMemory&) = delete;
  PinnedMemory& operator=(const PinnedMemory&) = delete;

  std::byte* data() const { return buffer_->host(); }

 private:
  const std::shared_ptr<PinnedList> list_;
  const std::unique_ptr<Buffer> buffer_;
};

}  // namespace rc::gpu
