// What the files of the stand-in for NVIDIA's driver library share.
#pragma once

#include "cuda/api.h"
#include "streams/control.h"

namespace rc::cuda {

inline constexpr CUresult kInvalidValue = 1;
inline constexpr CUresult kInvalidContext = 201;
inline constexpr CUresult kInvalidImage = 218;
inline constexpr CUresult kNotFound = 500;

// The context that is current on the thread; nullptr if there is none.
CUcontext current();

// What a function begins with that works on a context.
#define RC_BEGIN_IN_CONTEXT(name)                   \
  RC_BEGIN(name);                                   \
  if (current() == nullptr) return kInvalidContext; \
  if (rc::stand_in::lost != 0) return rc::stand_in::lost

}  // namespace rc::cuda
