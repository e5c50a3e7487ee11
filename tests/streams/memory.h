// Memory of a stand-in, on the device and pinned: the host's.
#pragma once

#include <cstddef>

#include "streams/ranges.h"
#include "streams/stream.h"

namespace rc::stand_in {

// What was allocated, which kernels may access.
Ranges& memory();
// Bytes that were allocated and not freed.
long bytes_taken();

// Filled with NaNs; nullptr if it would be more than the setting `memory`, in
// megabytes, allows.
void* allocate(size_t bytes);
// False: nothing begins there. Waits for all streams.
bool release(void* memory);

// Memory that was not allocated here is read before the call returns, and
// written before, too.
void copy(void* target, const void* source, size_t bytes, Stream* stream);
// Whether a range of a copy is memory that was allocated here.
bool is_memory(const void* begin, size_t bytes);

}  // namespace rc::stand_in
