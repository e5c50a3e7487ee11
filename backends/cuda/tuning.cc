#include "cuda/tuning.h"

#include "cuda/variants.h"

namespace rc::cuda {

streams::Tuning tuning(int capability) {
  streams::Tuning tuning = streams::gpu_tuning();
  // Of the results of ATTENTION; lanes are as many as fit.
  tuning.local_bytes = kResultsRoom * sizeof(float);
  // As many rows as a group takes.
  if (capability >= kOfTensorCores) tuning.matrices = gpu::kMatrixRows;
  streams::apply_choices("RUNCIBLE_CUDA_TUNING", kGroupRoom, &tuning);
  if (capability < kOfTensorCores) tuning.matrices = 0;
  return tuning;
}

}  // namespace rc::cuda
