// operator new and malloc of the whole program, failing where a test wants it.
#pragma once

#include <cstddef>
#include <cstdint>

namespace rc::test {

// Sanitizers make a run many times slower.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr int64_t kSlowness = 13;
#else
inline constexpr int64_t kSlowness = 1;
#endif

// From now on the n-th allocation (from 0) made by Runcible's own code fails,
// on whatever thread; negative: none does. Others always succeed.
//
// Own code is this program, which holds the library, and the backend modules,
// with what they call in the standard libraries of C++ and C, in libuv, PCRE2
// and utf8proc. Drivers are other people's code, and some end the process when
// they have no memory (PoCL aborts): no care of ours could prevent that.
//
// malloc and its kin fail where the C library is glibc and no sanitizer
// replaces the allocator; elsewhere only operator new does.
void fail_allocation(int64_t n);

// Returns whether the allocation has failed.
bool allocation_failed();
// Returns whether the failed allocation was made by a module.
bool allocation_of_module_failed();

// Objects that operator new has allocated, for any caller, and that have not
// been given back so far.
int64_t live_allocations();

// Bytes of the largest allocation by operator new, of any thread, since the
// last call.
size_t take_largest_allocation();

}  // namespace rc::test
