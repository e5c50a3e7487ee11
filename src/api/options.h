// Structs that begin with their size, of callers whose headers may be older or
// newer than this library.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <type_traits>

#include "base/error.h"

namespace rc::api {

// No struct of the ABI will ever be this large: a greater size is memory that
// was not initialised.
inline constexpr size_t kLargestStruct = 4096;

// Throws RC_E_INVALID_ARGUMENT unless the size can be one.
inline void check_struct_size(size_t size, const char* name) {
  if (size <= sizeof(size_t) || size > kLargestStruct) {
    fail(RC_E_INVALID_ARGUMENT, name, "->struct_size: ", size,
         " cannot be; begin with the struct's RC_..._INIT macro");
  }
}

// The options of a caller: `defaults` where they are NULL or too small.
template <class T>
T read_options(const T* options, const T& defaults, const char* name) {
  static_assert(std::is_trivially_copyable_v<T>);
  T result = defaults;
  if (options == nullptr) return result;
  size_t size = 0;
  std::memcpy(&size, options, sizeof(size));
  check_struct_size(size, name);
  const auto* bytes = reinterpret_cast<const unsigned char*>(options);
  if (size > sizeof(T)) {
    const bool zero = std::all_of(bytes + sizeof(T), bytes + size,
                                  [](unsigned char byte) { return byte == 0; });
    if (!zero) {
      fail(RC_E_INVALID_ARGUMENT, name, ": ", size,
           " bytes of a newer header set options that this library, of ",
           sizeof(T), " bytes, does not know; use a newer library");
    }
  }
  std::memcpy(&result, options, std::min(size, sizeof(T)));
  result.struct_size = sizeof(T);
  return result;
}

// Writes as much of a report as the caller's struct has room for; what only a
// newer header knows becomes zero.
template <class T>
void write_report(T* report, const T& value, const char* name) {
  static_assert(std::is_trivially_copyable_v<T>);
  if (report == nullptr) fail(RC_E_INVALID_ARGUMENT, name, ": NULL");
  size_t size = 0;
  std::memcpy(&size, report, sizeof(size));
  check_struct_size(size, name);
  auto* bytes = reinterpret_cast<unsigned char*>(report);
  const size_t shared = std::min(size, sizeof(T));
  std::memcpy(bytes + sizeof(size),
              reinterpret_cast<const unsigned char*>(&value) + sizeof(size),
              shared - sizeof(size));
  if (size > sizeof(T)) std::memset(bytes + sizeof(T), 0, size - sizeof(T));
}

// The rc_*_init functions.
template <class T>
void initialise(T* target, size_t size, const T& defaults) noexcept {
  if (target == nullptr || size < sizeof(size)) return;
  auto* bytes = reinterpret_cast<unsigned char*>(target);
  const size_t shared = std::min(size, sizeof(T));
  std::memcpy(bytes, &defaults, shared);
  std::memset(bytes + shared, 0, size - shared);
  std::memcpy(bytes, &size, sizeof(size));
}

}  // namespace rc::api
