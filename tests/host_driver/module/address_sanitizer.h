// Annotations for the address sanitizer; empty in builds without it.
#pragma once

#include <cstddef>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

namespace rc::host {

#if defined(__SANITIZE_ADDRESS__)
inline constexpr bool kAddressSanitizer = true;

// Forbids, or allows, access to bytes.
inline void forbid(const void* begin, size_t bytes) {
  __asan_poison_memory_region(begin, bytes);
}
inline void allow(const void* begin, size_t bytes) {
  __asan_unpoison_memory_region(begin, bytes);
}
// Before and after a change of stacks: `kept` is for who is left and comes back
// (nullptr: he does not), `stack` that to which, and from which, it goes.
inline void start_switch(void** kept, const void* stack, size_t bytes) {
  __sanitizer_start_switch_fiber(kept, stack, bytes);
}
inline void finish_switch(void* kept, const void** stack, size_t* bytes) {
  __sanitizer_finish_switch_fiber(kept, stack, bytes);
}
#else
inline constexpr bool kAddressSanitizer = false;

inline void forbid(const void*, size_t) {}
inline void allow(const void*, size_t) {}
inline void start_switch(void**, const void*, size_t) {}
inline void finish_switch(void*, const void**, size_t*) {}
#endif

}  // namespace rc::host
