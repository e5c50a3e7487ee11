// What the files of the stand-in for HIP share.
#pragma once

#include "rocm/hip.h"
#include "streams/control.h"
#include "streams/stream.h"

namespace rc::rocm {

inline constexpr hipError_t kInvalidValue = 1;
inline constexpr hipError_t kInvalidImage = 200;
inline constexpr hipError_t kNotFound = 500;

inline stand_in::Stream* stream_of(hipStream_t handle) {
  return reinterpret_cast<stand_in::Stream*>(handle);
}

// What a function begins with that works on the current device.
#define RC_BEGIN_ON_DEVICE(name) \
  RC_BEGIN(name);                \
  if (rc::stand_in::lost != 0) return rc::stand_in::lost

}  // namespace rc::rocm
