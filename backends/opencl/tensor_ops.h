// Which tensor ops of plugin.h a device can do.
#pragma once

#include "opencl/device.h"
#include "runcible/plugin.h"
#include "tensor/op.h"

namespace rc::opencl {

// Throws RC_E_UNSUPPORTED with the reason if it cannot. The op has passed
// check_op.
void check_tensor_op_supported(const Device& device, const Op& op,
                               const rc_plugin_value* values);

}  // namespace rc::opencl
