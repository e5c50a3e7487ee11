// How kernels are cut for a device.
#pragma once

#include <cstdint>

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
  // A tile of a product of tensors, of the result, and how many columns are
  // summed at a time: multiples of 4, of 64, and of 32.
  int product_rows;
  int product_columns;
  int product_depth;
  // Work-groups down the rows that are enqueued at once: some devices count
  // them in 16 bits.
  int groups;
  // MiB of a buffer at most; 0: what the device allows.
  int allocation;
  uint64_t local_bytes;  // of local memory, for a group

  // Lanes for a kernel along so many elements: as many as there are, but no
  // more than elements.
  int lanes_for(int64_t count) const {
    int found = lanes;
    while (found > 1 && found > count) found = found > 4 ? found / 2 : 1;
    return found;
  }
};

// What suits the device, changed by RUNCIBLE_OPENCL_TUNING: the names above
// with numbers, as in "rows=4,slices=2". Throws RC_E_INVALID_ARGUMENT for what
// is not like that or cannot work.
Tuning tuning_for(cl_device_id device);

}  // namespace rc::opencl
