// The iterations of kernels' loops that depend on shapes;
// tests/vulkan/limits_test.cc compares the counts with a device.
// Devices may have a limit (Tuning::loops): what can be cut is done in stages,
// and what is left must not be more.
#pragma once

#include <cstdint>
#include <span>

#include "gpu/tuning.h"
#include "tensor/op.h"

namespace rc::gpu {

// Iterations for what may be cut; the rest is for loops of fixed length.
uint64_t loop_budget(const Tuning& tuning);

// For a strip of kStrip columns of a product of tensors, with so many rows and
// columns of a tile for all lanes.
inline constexpr uint32_t kStrip = 16;
uint64_t strip_loops(const Tuning& tuning, uint32_t lanes, uint32_t rows,
                     uint32_t columns);

// For a channel of CONV2D.
uint64_t channel_loops(const rc_plugin_value& weight);

// The largest states of SHORT_CONV and the scans: the width of the convolution,
// and the columns of the state.
inline constexpr uint64_t kWidestConv = 32;
inline constexpr uint64_t kLargestState = 1024;
// Returns the number of rows of the run that they process at once.
uint64_t conv_rows(const Tuning& tuning, uint64_t width);
uint64_t scan_rows(const Tuning& tuning, uint64_t columns);
uint64_t delta_rows(const Tuning& tuning, uint64_t columns);

// Throws RC_E_UNSUPPORTED if a lane would go around too often for the op, which
// obeys check_op.
void check_loops(const Tuning& tuning, const Op& op,
                 std::span<const rc_plugin_value> values);

}  // namespace rc::gpu
