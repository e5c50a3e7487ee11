// How kernels are cut for NVIDIA's GPUs.
#pragma once

#include <cstdint>

#include "gpu/tuning.h"

namespace rc::cuda {

struct Tuning : gpu::Tuning {
  // 1: what a run launches is kept as a graph where the same comes again.
  uint32_t graphs = 1;
  // Millions of multiply-adds per second, until they are measured.
  uint32_t speed = 1000000;
};

// The choices for devices of a compute capability, times 10: those that the
// kernels are compiled for (variants.h). RUNCIBLE_CUDA_TUNING replaces some:
// names and numbers, as in "parts=2,matrices=0". Throws RC_E_INVALID_ARGUMENT
// for other texts.
Tuning tuning(int capability);

}  // namespace rc::cuda
