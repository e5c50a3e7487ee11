// Work of the caller's that is divided among the threads of a pool.
#pragma once

#include <cstdint>

#include "cpu/pool.h"

namespace rc::cpu {

using RangeFunction = void (*)(void* user, int64_t begin, int64_t end);

// Calls the function for ranges of 0 to `count`, on the calling thread and
// those of the pool that are awake in time; returns when all are done. `wake`:
// whether threads that sleep are to be woken. `ranges`: for each thread, so
// that one that comes late has some left.
void run_ranges(Pool& pool, int64_t count, RangeFunction function, void* user,
                bool wake = true, int ranges = 4);

}  // namespace rc::cpu
