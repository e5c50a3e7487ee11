// The tuning of kernels for a device.
#pragma once

#include <cstdint>

#include "gpu/tuning.h"
#include "opencl/api.h"

namespace rc::opencl {

struct Tuning : gpu::Tuning {
  uint32_t allocation = 0;  // MiB of a buffer; 0: what the device allows
};

// The tuning of the device, changed by RUNCIBLE_OPENCL_TUNING: names of members
// with numbers, as in "batch=4,parts=2". Throws RC_E_INVALID_ARGUMENT for text
// that is not like that, and for numbers that cannot work.
Tuning tuning_for(cl_device_id device);

}  // namespace rc::opencl
