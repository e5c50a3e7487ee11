// The devices of this machine and their properties.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cuda/api.h"
#include "runcible/plugin.h"

namespace rc::cuda {

int attribute(CUdevice device, CUdevice_attribute which);
// 90 for compute capability 9.0.
int capability(CUdevice device);

// The devices that can run the kernels, in the order of the driver, found once.
// Throws RC_E_BACKEND_UNAVAILABLE, saying why, if there are none.
const std::vector<CUdevice>& devices();

// Throws RC_E_NOT_FOUND.
CUdevice device_by_number(int32_t index);

rc_plugin_device_info describe(CUdevice device);

}  // namespace rc::cuda
