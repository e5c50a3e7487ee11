// A weight on the device.
#pragma once

#include "cpu/kernels.h"
#include "cpu/memory.h"
#include "runcible/plugin.h"

namespace rc::cpu {

// How a weight is stored, which follows from its info alone.
struct WeightLayout {
  rc_dtype dtype;    // of what is stored
  bool tiles;        // tiles of 16 rows, or plain floats (RC_USE_ELEMENTS)
  int64_t matrices;  // experts; 1 otherwise
  int64_t rows;      // of each matrix
  int64_t columns;
  int64_t tiles_per_matrix;
  uint64_t tile_bytes;
  uint64_t source_row_bytes;
  uint64_t bytes;
};

// Fails with RC_E_INVALID_ARGUMENT for a shape that is none and with
// RC_E_UNSUPPORTED for a type without decoder or uses that do not go together.
WeightLayout weight_layout(const rc_plugin_weight_info& info);

}  // namespace rc::cpu

struct rc_plugin_weight {
  rc::cpu::WeightLayout layout;
  rc_dtype dtype;  // as the program's values give it
  int32_t rank;
  int64_t shape[RC_PLUGIN_MAX_RANK];
  rc::cpu::Memory64 data;

  // Rearranges `source` on up to `threads` threads of its own.
  rc_plugin_weight(const rc_plugin_weight_info& info, const void* source,
                   const rc::cpu::Kernels& kernels, int threads);

  const float* elements() const {
    return reinterpret_cast<const float*>(data.get());
  }
  const uint8_t* tile(int64_t matrix, int64_t index) const {
    return data.get() +
           (matrix * layout.tiles_per_matrix + index) * layout.tile_bytes;
  }
};
