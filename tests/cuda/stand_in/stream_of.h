// Streams of the stand-in for NVIDIA's driver library by their handles.
#pragma once

#include "cuda/api.h"
#include "streams/stream.h"

namespace rc::cuda {

inline stand_in::Stream* stream_of(CUstream handle) {
  return reinterpret_cast<stand_in::Stream*>(handle);
}

}  // namespace rc::cuda
