// Products of a convolution: a few outputs of a stretch of pixels at a time, as
// sums in registers over everything that their windows see.
#include "cpu/kernels/levels.h"
#include "cpu/kernels/simd.h"

namespace rc::cpu::RC_CPU_LEVEL {
namespace {

// As many as leave registers for the sums.
constexpr int kMostVectors = kParts == 1 ? 6 : 1;

template <int vectors>
void some_windows(const WindowTask& task, int64_t first) {
  Vf sums[kWindowOutputs][vectors];
#pragma GCC unroll 8
  for (int o = 0; o < kWindowOutputs; ++o) {
#pragma GCC unroll 8
    for (int v = 0; v < vectors; ++v) {
      sums[o][v] = splat(task.bias[o]);
    }
  }
  const float* weights = task.weights;
  const float* x = task.x + first;
  for (int64_t k = 0; k < task.window; ++k, weights += kWindowOutputs) {
    const float* from = x + task.offsets[k];
    Vf pixels[vectors];
#pragma GCC unroll 8
    for (int v = 0; v < vectors; ++v) pixels[v] = load(from + v * kLanes);
#pragma GCC unroll 8
    for (int o = 0; o < kWindowOutputs; ++o) {
      const Vf weight = splat(weights[o]);
#pragma GCC unroll 8
      for (int v = 0; v < vectors; ++v) {
        sums[o][v] = fma(weight, pixels[v], sums[o][v]);
      }
    }
  }
#pragma GCC unroll 8
  for (int o = 0; o < kWindowOutputs; ++o) {
    if (o >= task.outputs) break;
    float* y = task.y + o * task.plane + first;
#pragma GCC unroll 8
    for (int v = 0; v < vectors; ++v) store(y + v * kLanes, sums[o][v]);
  }
}

}  // namespace

// Stretches end where the pixels do, so that the last two may overlap: what
// they have in common is the same.
void windows(const WindowTask& task) {
  int64_t first = 0;
  while (first < task.pixels) {
    const int64_t left = (task.pixels - first + kLanes - 1) / kLanes;
    // As even as can be.
    const int64_t turns = (left + kMostVectors - 1) / kMostVectors;
    int64_t vectors = (left + turns - 1) / turns;
    // There are fewer pixels than these vectors have.
    if (vectors * kLanes > task.pixels) --vectors;
    const int64_t end = first + vectors * kLanes;
    const int64_t begin =
        end <= task.pixels ? first : first - (end - task.pixels);
    if constexpr (kMostVectors == 1) {
      some_windows<1>(task, begin);
    } else {
      switch (vectors) {
        case 6:
          some_windows<6>(task, begin);
          break;
        case 5:
          some_windows<5>(task, begin);
          break;
        case 4:
          some_windows<4>(task, begin);
          break;
        case 3:
          some_windows<3>(task, begin);
          break;
        case 2:
          some_windows<2>(task, begin);
          break;
        default:
          some_windows<1>(task, begin);
          break;
      }
    }
    first = end;
  }
}

}  // namespace rc::cpu::RC_CPU_LEVEL
