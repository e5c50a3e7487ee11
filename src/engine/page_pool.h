// The pages of a KV cache, or the slots of states, and who holds them, by
// counting. Knows numbers only;
// the bytes are the ResidentModel's.
//
// Belongs to the engine thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace rc::engine {

using PageId = int32_t;
// Slots of states are counted in a separate pool.
using SlotId = PageId;
inline constexpr PageId kNoPage = -1;

class PagePool {
 public:
  explicit PagePool(int64_t pages);

  // A page with one reference, or kNoPage if none is free.
  PageId allocate() noexcept;
  void retain(PageId page) noexcept;
  // Frees the page with its last reference.
  void release(PageId page) noexcept;

  int32_t references(PageId page) const {
    return references_[static_cast<size_t>(page)];
  }
  int64_t size() const { return static_cast<int64_t>(references_.size()); }
  int64_t free() const { return static_cast<int64_t>(free_.size()); }

 private:
  std::vector<int32_t> references_;
  std::vector<PageId> free_;  // has capacity for all: release never allocates
};

}  // namespace rc::engine
