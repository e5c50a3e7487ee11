// operator new of the whole program, failing where a test wants it.
#pragma once

#include <cstddef>
#include <cstdint>

namespace rc::test {

// From now on the n-th allocation (from 0) made by Runcible's own code fails,
// on whatever thread; negative: none does. Others always succeed.
//
// Own code is this program, which holds the library, and the backend modules,
// with what they call in the standard library. Drivers are other people's code,
// and some end the process when they have no memory (PoCL aborts): no care of
// ours could prevent that.
void fail_allocation(int64_t n);

// Whether that has happened.
bool allocation_failed();
// And whether it was one of a module.
bool allocation_of_module_failed();

// Objects that were allocated, by anybody, and not given back so far.
int64_t live_allocations();

// Bytes of the largest allocation by operator new, of any thread, since the
// last call.
size_t take_largest_allocation();

}  // namespace rc::test
