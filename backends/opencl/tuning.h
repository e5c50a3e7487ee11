// How kernels are cut for a device.
#pragma once

#include "opencl/api.h"

namespace rc::opencl {

struct Tuning {
  // Elements that a work-item works on at once, 1, 4, 8 or 16: the width of a
  // vector register on processors, 1 on GPUs.
  int lanes;
  // Rows of a weight whose bytes are interleaved; a multiple of lanes.
  int tile;
  // Rows of the batch that a work-item of the tiled product takes.
  int rows;
  // From so many rows on the tiled product is used.
  int tiled_from;
  // Work-items of a group: in products, along the outputs and along the
  // columns, ...
  int linear;
  int slices;
  // ... for one vector of a norm, for one head of attention, and of element by
  // element ops.
  int norm;
  int attention;
  int elements;
};

// What suits the device, changed by RUNCIBLE_OPENCL_TUNING: the names above
// with numbers, as in "rows=4,slices=2". Throws RC_E_INVALID_ARGUMENT for what
// is not like that or cannot work.
Tuning tuning_for(cl_device_id device);

}  // namespace rc::opencl
