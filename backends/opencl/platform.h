// The devices of this machine and what they are.
#pragma once

#include <cstdint>
#include <vector>

#include "opencl/api.h"
#include "runcible/plugin.h"

namespace rc::opencl {

// The devices of all platforms that can compile and run OpenCL C 1.2, in the
// order of the loader, found once. Throws RC_E_BACKEND_UNAVAILABLE, saying
// why, if there are none.
const std::vector<cl_device_id>& devices();

// Throws RC_E_NOT_FOUND.
cl_device_id device_by_number(int32_t index);

bool has_extension(cl_device_id device, const char* name);

rc_plugin_device_info describe(cl_device_id device);

}  // namespace rc::opencl
