// How kernels are cut for a device.
#pragma once

#include <cstdint>

#include "gpu/tuning.h"
#include "opencl/api.h"

namespace rc::opencl {

struct Tuning : gpu::Tuning {
  // Work-items of a group along the outputs of a product.
  uint32_t linear = 32;
  // A tile of a product of tensors, of the result, and how many columns are
  // summed at a time: multiples of 4, of 64, and of 32.
  uint32_t product_rows = 64;
  uint32_t product_columns = 64;
  uint32_t product_depth = 32;
  uint32_t allocation = 0;  // MiB of a buffer; 0: what the device allows

  // Elements at once for a kernel along so many: no more than those.
  uint32_t vector_for(int64_t count) const {
    uint32_t found = vector;
    while (found > 1 && found > count) found = found > 4 ? found / 2 : 1;
    return found;
  }
};

// What suits the device, changed by RUNCIBLE_OPENCL_TUNING: names of members
// with numbers, as in "batch=4,parts=2". Throws RC_E_INVALID_ARGUMENT for what
// is not like that or cannot work.
Tuning tuning_for(cl_device_id device);

}  // namespace rc::opencl
