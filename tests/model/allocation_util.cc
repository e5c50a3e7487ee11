#include "model/allocation_util.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <new>

namespace {

std::atomic<int64_t> until_failure = -1;
std::atomic<int64_t> live = 0;

}  // namespace

namespace rc::test {

void fail_allocation_after(int64_t count) { until_failure = count; }
bool allocation_failed() { return until_failure.exchange(-1) < 0; }
int64_t live_allocations() { return live; }

void fail_each_allocation(const std::function<void()>& call, int64_t least) {
  call();  // what is made once for the whole process
  bool failed = true;
  for (int64_t n = 0; failed; ++n) {
    const int64_t before = live_allocations();
    bool thrown = false;
    fail_allocation_after(n);
    try {
      call();
    } catch (const std::bad_alloc&) {
      thrown = true;
    }
    failed = allocation_failed();
    ASSERT_TRUE(failed || !thrown) << "allocation " << n;
    ASSERT_EQ(live_allocations(), before) << "allocation " << n;
    if (!failed) {
      EXPECT_GT(n, least);
    }
  }
}

}  // namespace rc::test

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)

namespace {

void* allocate(size_t size, size_t alignment) {
  if (until_failure >= 0 && until_failure-- == 0) throw std::bad_alloc();
  void* memory = nullptr;
  if (posix_memalign(&memory, alignment, size == 0 ? 1 : size) != 0) {
    throw std::bad_alloc();
  }
  ++live;
  return memory;
}

void deallocate(void* memory) {
  if (memory != nullptr) --live;
  std::free(memory);
}

}  // namespace

void* operator new(size_t size) {
  return allocate(size, alignof(std::max_align_t));
}
void* operator new(size_t size, std::align_val_t alignment) {
  return allocate(size, static_cast<size_t>(alignment));
}
void operator delete(void* memory) noexcept { deallocate(memory); }
void operator delete(void* memory, size_t) noexcept { deallocate(memory); }
void operator delete(void* memory, std::align_val_t) noexcept {
  deallocate(memory);
}
void operator delete(void* memory, size_t, std::align_val_t) noexcept {
  deallocate(memory);
}

#endif
