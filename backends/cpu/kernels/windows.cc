// Products of a convolution: a few outputs of a stretch of pixels at a time, as
// sums in registers over everything that their windows see.
#include "cpu/kernels/levels.h"
#include "cpu/kernels/simd.h"

namespace rc::cpu::RC_CPU_LEVEL {
namespace {

// As many outputs, and vectors of pixels, as there are registers for the sums.
constexpr int kOutputs = kParts == 1 ? kWindowOutputs : kWindowOutputs / 2;
constexpr int kFewOutputs = kWindowOutputs / 2;
template <int outputs>
constexpr int kMostVectors = kParts > 1               ? 1
                             : outputs == kFewOutputs ? 6
                                                      : 3;

// Outputs from `output` on.
template <int outputs, int vectors>
void some_windows(const WindowTask& task, int output, int64_t first) {
  Vf sums[outputs][vectors];
#pragma GCC unroll 8
  for (int o = 0; o < outputs; ++o) {
#pragma GCC unroll 8
    for (int v = 0; v < vectors; ++v) {
      sums[o][v] = splat(task.bias[output + o]);
    }
  }
  const float* weights = task.weights + output;
  const float* x = task.x + first;
  for (int64_t k = 0; k < task.window; ++k, weights += kWindowOutputs) {
    const float* from = x + task.offsets[k];
    Vf pixels[vectors];
#pragma GCC unroll 8
    for (int v = 0; v < vectors; ++v) pixels[v] = load(from + v * kLanes);
#pragma GCC unroll 8
    for (int o = 0; o < outputs; ++o) {
      const Vf weight = splat(weights[o]);
#pragma GCC unroll 8
      for (int v = 0; v < vectors; ++v) {
        sums[o][v] = fma(weight, pixels[v], sums[o][v]);
      }
    }
  }
#pragma GCC unroll 8
  for (int o = 0; o < outputs; ++o) {
    if (output + o >= task.outputs) break;
    float* y = task.y + (output + o) * task.plane + first;
#pragma GCC unroll 8
    for (int v = 0; v < vectors; ++v) store(y + v * kLanes, sums[o][v]);
  }
}

template <int outputs, int most = kMostVectors<outputs>>
void some_vectors(const WindowTask& task, int output, int64_t first,
                  int64_t vectors) {
  if constexpr (most > 1) {
    if (vectors < most) {
      return some_vectors<outputs, most - 1>(task, output, first, vectors);
    }
  }
  some_windows<outputs, most>(task, output, first);
}

// Stretches end where the pixels do, so that the last two may overlap: what
// they have in common is the same.
template <int outputs>
void all_pixels(const WindowTask& task, int output) {
  constexpr int most = kMostVectors<outputs>;
  int64_t first = 0;
  while (first < task.pixels) {
    const int64_t left = (task.pixels - first + kLanes - 1) / kLanes;
    // As even as can be.
    const int64_t turns = (left + most - 1) / most;
    int64_t vectors = (left + turns - 1) / turns;
    // There are fewer pixels than these vectors have.
    if (vectors * kLanes > task.pixels) --vectors;
    const int64_t end = first + vectors * kLanes;
    const int64_t begin =
        end <= task.pixels ? first : first - (end - task.pixels);
    some_vectors<outputs>(task, output, begin, vectors);
    first = end;
  }
}

}  // namespace

void windows(const WindowTask& task) {
  int output = 0;
  for (; task.outputs - output > kFewOutputs; output += kOutputs) {
    all_pixels<kOutputs>(task, output);
  }
  if (output < task.outputs) all_pixels<kFewOutputs>(task, output);
}

}  // namespace rc::cpu::RC_CPU_LEVEL
