// The state of the stand-in for NVIDIA's driver library: what it pretends to
// be, and which calls fail. Nothing of it is destroyed, since devices are
// closed while the process exits, too.
#pragma once

#include <atomic>

#include "cuda/api.h"

// Before a function that the library exports.
#define RC_STAND_IN extern "C" __attribute__((visibility("default")))

namespace rc::cuda {

inline constexpr CUresult kInvalidValue = 1;
inline constexpr CUresult kInvalidContext = 201;
inline constexpr CUresult kInvalidImage = 218;
inline constexpr CUresult kNotFound = 500;

// A number of RUNCIBLE_CUDA_STAND_IN, which has names and numbers as in
// "devices=2,driver=10020"; `otherwise` if it is not there.
long setting(const char* name, long otherwise);

// Counts a call; the result that it is to fail with, if it is.
CUresult begin_call(const char* name);
extern std::atomic<long> calls;
// After an error of a kernel all calls of the context give it.
extern std::atomic<CUresult> lost;

// The context that is current on the thread; nullptr if there is none.
CUcontext current();

// What a function begins with, and one that works on a context.
#define RC_BEGIN(name)                             \
  do {                                             \
    const CUresult injected = begin_call(name);    \
    if (injected != CUDA_SUCCESS) return injected; \
  } while (false)
#define RC_BEGIN_IN_CONTEXT(name)                   \
  RC_BEGIN(name);                                   \
  if (current() == nullptr) return kInvalidContext; \
  if (lost != CUDA_SUCCESS) return lost

}  // namespace rc::cuda
