// A weight on the device: plain F32 (RC_USE_ELEMENTS), or tiles (packing.h) in
// one or several buffers, none larger than what can be bound.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "gpu/device.h"
#include "runcible/plugin.h"
#include "tensor/dtype.h"

namespace rc::gpu {

// The layout of a weight, which follows from its info alone.
struct WeightLayout {
  bool elements;  // plain F32
  int64_t columns;
  int64_t rows;          // of each matrix
  uint64_t matrices;     // experts; 1 otherwise
  uint64_t tile_rows;    // of each tile
  uint64_t tile_bytes;   // of each tile
  uint64_t tiles;        // of each matrix
  uint64_t slice_tiles;  // of each buffer but the last
  uint64_t bytes;        // of all
};

// Throws RC_E_INVALID_ARGUMENT for an impossible shape, RC_E_UNSUPPORTED for
// uses that do not go together, for types without decoder and for rows that
// cannot be bound.
WeightLayout weight_layout(const Device& device,
                           const rc_plugin_weight_info& info);

struct Weight {
  Weight(Device& device, const rc_plugin_weight_info& info, const void* data);

  struct Slice {
    std::unique_ptr<Buffer> buffer;
    uint64_t first_tile;  // of all matrices' tiles, one after the other
    uint64_t tiles;
  };

  std::string name;
  DType dtype;
  std::vector<int64_t> shape;
  WeightLayout layout;
  std::vector<Slice> slices;  // one, without tiles, of plain elements

 private:
  void upload_tiles(const uint8_t* source, Slice* slice) const;

  const Packing& packing_;
};

}  // namespace rc::gpu
