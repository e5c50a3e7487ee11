// The border between exceptions and status codes. Every function of the C ABI
// that can fail runs its body through one of these.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "base/callback.h"
#include "base/caller_thread.h"
#include "base/error.h"

namespace rc::api {

// Runs the body; what it throws becomes the status and the thread's message. A
// callback within it may end the thread, so neither this nor the functions that
// use it are noexcept.
template <class Body>
rc_status guard(Body&& body) {
  const CallerThread inside;
  try {
    std::forward<Body>(body)();
    return RC_OK;
  } catch (const ThreadEnd&) {
    throw;
  } catch (...) {
    return status_of_current_exception();
  }
}

// The same for a function that makes a handle: *out is what the body returns,
// or NULL after a failure.
template <class T, class Body>
rc_status guard_handle(T** out, const char* name, Body&& body) {
  return guard([&] {
    if (out == nullptr) fail(RC_E_INVALID_ARGUMENT, name, ": NULL");
    *out = nullptr;
    *out = std::forward<Body>(body)();
  });
}

// For outputs and other pointers that must be given.
inline void need_pointer(const void* pointer, const char* name) {
  if (pointer == nullptr) fail(RC_E_INVALID_ARGUMENT, name, ": NULL");
}

// An array may be NULL only if it has no elements.
inline void need_array(const void* array, size_t count, size_t element_bytes,
                       const char* name) {
  if (array == nullptr && count > 0) {
    fail(RC_E_INVALID_ARGUMENT, name, ": NULL, but its length is ", count);
  }
  if (count > PTRDIFF_MAX / element_bytes) {
    fail(RC_E_INVALID_ARGUMENT, name, ": a length of ", count,
         " is more than memory can hold");
  }
}

template <class T>
void need_range(T value, T least, T most, const char* name) {
  if (!(value >= least && value <= most)) {
    fail(RC_E_INVALID_ARGUMENT, name, ": ", value, " is not within ", least,
         " to ", most);
  }
}

inline void need_at_least_zero(int64_t value, const char* name) {
  if (value < 0) {
    fail(RC_E_INVALID_ARGUMENT, name, ": ", value, " is negative");
  }
}

inline void need_flag(int32_t value, const char* name) {
  if (value != 0 && value != 1) {
    fail(RC_E_INVALID_ARGUMENT, name, ": ", value, " is neither 0 nor 1");
  }
}

}  // namespace rc::api
