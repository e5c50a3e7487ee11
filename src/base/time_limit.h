// Limits of time that callers give in milliseconds.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace rc {

// A century: a longer limit is none. The clock counts nanoseconds in 64 bits,
// 292 years from its start, and sums with this do not overflow.
inline constexpr int64_t kLongestMs = int64_t{100} * 365 * 24 * 3600 * 1000;

// When a limit that began then is over.
inline std::chrono::steady_clock::time_point time_after(
    int64_t milliseconds, std::chrono::steady_clock::time_point begin =
                              std::chrono::steady_clock::now()) {
  return begin + std::chrono::milliseconds(std::min(milliseconds, kLongestMs));
}

}  // namespace rc
