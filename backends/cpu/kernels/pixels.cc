// Products of a convolution with many outputs, which are the lanes of vectors:
// a number that a pixel sees is taken from the image itself, for all of them.
#include "cpu/kernels/levels.h"
#include "cpu/kernels/simd.h"

namespace rc::cpu::RC_CPU_LEVEL {
namespace {

// Vectors of outputs, and pixels, whose sums stay in registers.
constexpr int kVectors = kParts == 1 ? 2 : 1;
constexpr int kMany = kParts == 1 ? 14 : 6;
constexpr int kFew = kParts == 1 ? 8 : 4;

// Adds at most kSumBlock products to each sum. Not in line: GCC would keep a
// copy of the sums meanwhile.
template <int count>
__attribute__((noinline)) void add_block(const float* weights, const float* x,
                                         const int64_t* offsets, int64_t k,
                                         float* sums) {
  Vf block[count][kVectors];
#pragma GCC unroll 16
  for (int p = 0; p < count; ++p) {
#pragma GCC unroll 2
    for (int v = 0; v < kVectors; ++v) block[p][v] = splat(0);
  }
  for (int64_t i = 0; i < k; ++i, weights += kPixelOutputs) {
    const float* from = x + offsets[i];
    Vf outputs[kVectors];
#pragma GCC unroll 2
    for (int v = 0; v < kVectors; ++v) outputs[v] = load(weights + v * kLanes);
#pragma GCC unroll 16
    for (int p = 0; p < count; ++p) {
      const Vf pixel = splat(from[p]);
#pragma GCC unroll 2
      for (int v = 0; v < kVectors; ++v) {
        block[p][v] = fma(outputs[v], pixel, block[p][v]);
      }
    }
  }
#pragma GCC unroll 16
  for (int p = 0; p < count; ++p) {
#pragma GCC unroll 2
    for (int v = 0; v < kVectors; ++v) {
      float* sum = sums + p * kPixelOutputs + v * kLanes;
      store(sum, add(load(sum), block[p][v]));
    }
  }
}

template <int count>
void some_pixels(const PixelTask& task, int64_t first) {
  float* sums = task.sums + first * kPixelOutputs;
  for (int i = 0; i < count * kPixelOutputs; i += kLanes) {
    store(sums + i, load(task.bias + i % kPixelOutputs));
  }
  for (int64_t i = 0; i < task.window; i += kSumBlock) {
    const int64_t left = task.window - i;
    for (int o = 0; o < kPixelOutputs; o += kVectors * kLanes) {
      add_block<count>(task.weights + i * kPixelOutputs + o, task.x + first,
                       task.offsets + i, left < kSumBlock ? left : kSumBlock,
                       sums + o);
    }
  }
}

// Returns how many times kMany pixels are taken before kFew, so that the fewest
// pixels are computed twice.
[[maybe_unused]] int64_t times_many(int64_t pixels) {
  int64_t best = 0;
  int64_t least = INT64_MAX;
  for (int64_t times = 0; times * kMany <= pixels; ++times) {
    const int64_t left = pixels - times * kMany;
    const int64_t done = times * kMany + (left + kFew - 1) / kFew * kFew;
    if (done <= least) {
      least = done;
      best = times;
    }
  }
  return best;
}

}  // namespace

// The last ones end where the pixels do: they may overlap those before.
void pixels([[maybe_unused]] const PixelTask& task) {
  if constexpr (kParts <= 2) {
    const int64_t many = times_many(task.pixels) * kMany;
    for (int64_t first = 0; first < many; first += kMany) {
      some_pixels<kMany>(task, first);
    }
    for (int64_t first = many; first < task.pixels; first += kFew) {
      const int64_t last = task.pixels - kFew;
      some_pixels<kFew>(task, first < last ? first : last);
    }
  }
}

}  // namespace rc::cpu::RC_CPU_LEVEL
