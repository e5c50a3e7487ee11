#include "cuda/tuning.h"

#include <cstdlib>

#include "cuda/variants.h"

namespace rc::cuda {
namespace {

constexpr const char* kVariable = "RUNCIBLE_CUDA_TUNING";

}  // namespace

Tuning tuning(int capability) {
  Tuning tuning;
  tuning.few = 4;
  tuning.reduce = 128;
  tuning.attention = 32;
  tuning.product_lanes = 32;
  tuning.product_rows = tuning.product_columns = 64;
  tuning.product_depth = 32;
  tuning.each = 1;
  tuning.decode_each = 64;
  tuning.line_part = 4096;
  // Wide products have enough to do.
  tuning.batch_parts = 1;
  tuning.route = 1;
  // Of the results of ATTENTION; lanes are as many as fit.
  tuning.local_bytes = kResultsRoom * sizeof(float);
  // The limit of grids.
  tuning.groups = 65535;
  // As many rows as a group takes.
  if (capability >= kOfTensorCores) tuning.matrices = gpu::kMatrixRows;
  if (const char* const text = std::getenv(kVariable)) {
    const uint32_t most_parts = kGroupRoom / tuning.tile;
    gpu::apply_choices(kVariable, text,
                       {{"few", &tuning.few, 1, UINT32_MAX},
                        {"parts", &tuning.parts, 1, most_parts},
                        {"matrices", &tuning.matrices, 0, UINT32_MAX},
                        {"attention", &tuning.attention, 1, kGroupRoom},
                        {"reduce", &tuning.reduce, 1, kGroupRoom},
                        {"graphs", &tuning.graphs, 0, 1},
                        {"speed", &tuning.speed, 1, UINT32_MAX}});
  }
  if (capability < kOfTensorCores) tuning.matrices = 0;
  // Kernels count bytes of what is bound in 32 bits, to the end of the last
  // group, which has less than these.
  constexpr uint32_t kGroupBytes = 16 << 20;
  tuning.range = UINT32_MAX - kGroupBytes;
  return tuning;
}

}  // namespace rc::cuda
