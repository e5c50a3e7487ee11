// How kernels are cut for NVIDIA's GPUs.
#pragma once

#include "streams/tuning.h"

namespace rc::cuda {

// The choices for devices of a compute capability, times 10: those that the
// kernels are compiled for (variants.h). RUNCIBLE_CUDA_TUNING replaces some:
// names and numbers, as in "parts=2,matrices=0". Throws RC_E_INVALID_ARGUMENT
// for other texts.
streams::Tuning tuning(int capability);

}  // namespace rc::cuda
