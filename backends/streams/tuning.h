// How kernels are cut for devices of streams.
#pragma once

#include <cstdint>

#include "gpu/tuning.h"

namespace rc::streams {

struct Tuning : gpu::Tuning {
  // 1: what a run launches is kept as a graph where the same comes again.
  uint32_t graphs = 1;
  // Millions of multiply-adds per second, until they are measured.
  uint32_t speed = 1000000;
};

// Choices for GPUs. Work-groups of a grid and bytes that are bound are limited
// as both drivers limit them.
Tuning gpu_tuning();

// The choices that a variable of the environment may replace, at most so many
// work-items of a group. Products by matrices are for `tuning` to allow.
void apply_choices(const char* variable, uint32_t most_items, Tuning* tuning);

}  // namespace rc::streams
