// Dispatches of the tensor ops of plugin.h.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "gpu/dispatch.h"

namespace rc::gpu {

// As append_dispatches and check_supported, for ops on tensors (see
// is_tensor_op).
void append_tensor_dispatches(Device& device, const Op& op, int32_t number,
                              std::span<const Placed> values,
                              std::vector<Dispatch>* dispatches,
                              std::vector<std::unique_ptr<Buffer>>* kept);
void check_tensor_supported(const Device& device, const Op& op,
                            std::span<const rc_plugin_value> values);

}  // namespace rc::gpu
