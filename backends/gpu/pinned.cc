#include "gpu/pinned.h"

#include <utility>

namespace rc::gpu {

Buffer* PinnedList::find(const void* data, uint64_t bytes, uint64_t* offset) {
  const auto* address = static_cast<const std::byte*>(data);
  const std::lock_guard lock(mutex_);
  auto found = buffers_.upper_bound(address);
  if (found == buffers_.begin()) return nullptr;
  --found;
  *offset = static_cast<uint64_t>(address - found->first);
  const uint64_t size = found->second->bytes();
  const bool within = *offset <= size && bytes <= size - *offset;
  return within ? found->second : nullptr;
}

PinnedMemory::PinnedMemory(std::shared_ptr<PinnedList> list,
                           std::unique_ptr<Buffer> buffer)
    : list_(std::move(list)), buffer_(std::move(buffer)) {
  const std::lock_guard lock(list_->mutex_);
  list_->buffers_.emplace(data(), buffer_.get());
}

PinnedMemory::~PinnedMemory() {
  const std::lock_guard lock(list_->mutex_);
  list_->buffers_.erase(data());
}

}  // namespace rc::gpu
