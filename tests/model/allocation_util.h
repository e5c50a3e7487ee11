// Allocations of this test program, which can be made to fail. Its operator
// new is replaced for that, which sanitizers do themselves: kAllocationsCanFail
// is false with them.
#pragma once

#include <cstdint>
#include <functional>

namespace rc::test {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool kAllocationsCanFail = false;
#else
inline constexpr bool kAllocationsCanFail = true;
#endif

// The allocation after `count` more, of any thread, throws std::bad_alloc.
void fail_allocation_after(int64_t count);
// Ends that; false if it did not come to the failure.
bool allocation_failed();
// Allocations that have not been freed.
int64_t live_allocations();

// Fails every allocation of `call` in turn; each time it must give everything
// back, whether it throws std::bad_alloc or does without. There must be more
// than `least`.
void fail_each_allocation(const std::function<void()>& call, int64_t least);

}  // namespace rc::test
