#include "engine/page_pool.h"

namespace rc::engine {

PagePool::PagePool(int64_t pages) : references_(static_cast<size_t>(pages), 0) {
  free_.reserve(references_.size());
  // The lowest number is taken first.
  for (int64_t page = pages; page-- > 0;) {
    free_.push_back(static_cast<PageId>(page));
  }
}

PageId PagePool::allocate() noexcept {
  if (free_.empty()) return kNoPage;
  const PageId page = free_.back();
  free_.pop_back();
  references_[static_cast<size_t>(page)] = 1;
  return page;
}

void PagePool::retain(PageId page) noexcept {
  ++references_[static_cast<size_t>(page)];
}

void PagePool::release(PageId page) noexcept {
  if (--references_[static_cast<size_t>(page)] == 0) free_.push_back(page);
}

}  // namespace rc::engine
