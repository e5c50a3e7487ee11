// Pages of memory, which the system gives and takes back. Any thread.
#pragma once

#include <cstddef>
#include <span>

#include "base/descriptor.h"

namespace rc {

#if defined(__EMSCRIPTEN__)
// All memory is one array: a mapping is a block of the heap.
inline constexpr bool kMemoryIsMapped = false;
#else
inline constexpr bool kMemoryIsMapped = true;
#endif

// Returns `bytes` of zeros that begin with a page; nothing if the system
// refuses them. They take memory as they are touched.
std::span<std::byte> map_memory(size_t bytes) noexcept;

// Returns the first `bytes` of a file, for reading; nothing, with the reason in
// errno, if the system refuses to map them.
std::span<const std::byte> map_file(const Descriptor& file,
                                    size_t bytes) noexcept;

// Gives back a mapping or, where kMemoryIsMapped, whole pages of one.
void unmap_memory(const void* start, size_t bytes) noexcept;

// Asks the system to make these whole pages of huge pages when they are
// touched. Best effort: without, memory is as good, only slower.
void use_huge_pages(void* start, size_t bytes) noexcept;

}  // namespace rc
