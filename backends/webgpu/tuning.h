// The tuning of kernels for a device.
#pragma once

#include "gpu/tuning.h"
#include "webgpu/abi.h"

namespace rc::webgpu {

// Takes RUNCIBLE_WEBGPU_TUNING and RUNCIBLE_WEBGPU_RANGE into account. Throws
// RC_E_INVALID_ARGUMENT for what is wrong with them.
gpu::Tuning choose_tuning(const abi::Limits& limits, bool software);

}  // namespace rc::webgpu
