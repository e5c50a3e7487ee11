// Numbers as the words of parameters and the counts of work-groups.
#pragma once

#include <bit>
#include <cstdint>

#include "base/error.h"

namespace rc::gpu {

inline uint32_t word(float value) { return std::bit_cast<uint32_t>(value); }

inline uint32_t narrow(int64_t value) {
  if (value < 0 || value > INT32_MAX) {
    fail(RC_E_UNSUPPORTED, "a dimension or parameter of ", value,
         " is too large for this backend");
  }
  return static_cast<uint32_t>(value);
}

inline uint32_t divided(uint64_t count, uint64_t each) {
  return static_cast<uint32_t>((count + each - 1) / each);
}

}  // namespace rc::gpu
