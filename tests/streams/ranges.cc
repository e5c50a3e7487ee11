#include "streams/ranges.h"

namespace rc::stand_in {

void Ranges::add(uint64_t address, uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  ranges_[address] = bytes;
}

uint64_t Ranges::remove(uint64_t address) {
  const std::lock_guard lock(mutex_);
  const auto found = ranges_.find(address);
  if (found == ranges_.end()) return 0;
  const uint64_t bytes = found->second;
  ranges_.erase(found);
  return bytes;
}

std::byte* Ranges::find(uint64_t address, uint64_t bytes) const {
  const std::lock_guard lock(mutex_);
  auto next = ranges_.upper_bound(address);
  if (next == ranges_.begin()) return nullptr;
  const auto& [begin, size] = *--next;
  const uint64_t offset = address - begin;
  if (offset > size || bytes > size - offset) return nullptr;
  return reinterpret_cast<std::byte*>(address);
}

}  // namespace rc::stand_in
