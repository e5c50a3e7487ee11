// Weights on the device, as kernels/blocks.cl describes them.
#pragma once

#include <cstdint>
#include <vector>

#include "opencl/api.h"
#include "opencl/device.h"
#include "runcible/plugin.h"

namespace rc::opencl {

struct WeightLayout {
  int64_t matrices;     // 1, or the experts
  int64_t rows;         // of a matrix
  uint64_t row_bytes;   // in the layout of the dtype
  uint64_t unit_bytes;  // that stay together in a tile
  // Of a tile and a matrix on the device; 0 for a weight read by elements,
  // which is not rearranged.
  uint64_t tile_bytes;
  uint64_t matrix_bytes;
  uint64_t bytes;  // of all
};

// Throws RC_E_INVALID_ARGUMENT for a shape that is none, RC_E_UNSUPPORTED for
// a type that the device cannot decode.
WeightLayout weight_layout(const Device& device,
                           const rc_plugin_weight_info& info);

// "" if kernels can decode the type on the device, else why not.
const char* undecodable(const Device& device, rc_dtype dtype);

}  // namespace rc::opencl

struct rc_plugin_weight {
  rc_plugin_weight(rc::opencl::Device& device,
                   const rc_plugin_weight_info& info, const void* data);

  rc::opencl::WeightLayout layout;
  rc_dtype dtype;
  std::vector<int64_t> shape;
  rc::opencl::Memory memory;
};
