// Which ops of models a device can do.
#pragma once

#include <cstdint>

#include "opencl/device.h"
#include "runcible/plugin.h"
#include "tensor/op.h"

namespace rc::opencl {

// Whether it carries a state from row to row: rows of its kernel are sequences.
bool has_states(const Op& op);

// Throws RC_E_UNSUPPORTED with the reason if it cannot. The op has passed
// check_op.
void check_model_op_supported(const Device& device, const Op& op,
                              const rc_plugin_value* values);

// The same for the size of a head, dimension number `dimension` of a value:
// work-items keep a whole head.
void check_head(const Op& op, const rc_plugin_value& value, int dimension);

}  // namespace rc::opencl
