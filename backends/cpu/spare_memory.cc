#include "cpu/spare_memory.h"

#include <algorithm>
#include <new>
#include <utility>

namespace rc::cpu {

SpareMemory::Block SpareMemory::take(uint64_t bytes) {
  if (bytes >= kLeastBytes) {
    const std::lock_guard lock(mutex_);
    // The newest is the likeliest to be in a processor's caches still.
    for (size_t i = count_; i-- > 0;) {
      if (kept_[i].bytes < bytes || kept_[i].bytes - bytes > bytes / 4) {
        continue;
      }
      Block found = std::move(kept_[i]);
      std::move(kept_ + i + 1, kept_ + count_, kept_ + i);
      --count_;
      bytes_ -= found.bytes;
      return found;
    }
  }
  try {
    return {allocate(bytes), bytes};
  } catch (const std::bad_alloc&) {
    Block kept[kMostBlocks];
    {
      const std::lock_guard lock(mutex_);
      std::move(kept_, kept_ + count_, kept);
      count_ = 0;
      bytes_ = 0;
    }
    if (kept[0].memory == nullptr) throw;
  }
  return {allocate(bytes), bytes};
}

void SpareMemory::give_back(Block block) noexcept {
  if (block.bytes < kLeastBytes || block.bytes > kMostBytes) return;
  Block given_up[kMostBlocks];
  const std::lock_guard lock(mutex_);
  size_t gone = 0;
  while (gone < count_ &&
         (count_ - gone == kMostBlocks || bytes_ > kMostBytes - block.bytes)) {
    bytes_ -= kept_[gone].bytes;
    given_up[gone] = std::move(kept_[gone]);
    ++gone;
  }
  std::move(kept_ + gone, kept_ + count_, kept_);
  count_ -= gone;
  bytes_ += block.bytes;
  kept_[count_++] = std::move(block);
}

uint64_t SpareMemory::kept_bytes() {
  const std::lock_guard lock(mutex_);
  return bytes_;
}

}  // namespace rc::cpu
