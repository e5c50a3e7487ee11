// A weight on the device.
#pragma once

#include <memory>

#include "cpu/hot_experts.h"
#include "cpu/kernels.h"
#include "cpu/memory.h"
#include "cpu/nodes.h"
#include "runcible/plugin.h"

namespace rc::cpu {

// The storage of a weight, which follows from its info alone.
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
  // Of a weight that stays where it is: its rows, in the layout of `dtype`.
  const uint8_t* mapped = nullptr;
  // Of such a weight: copies of some of its matrices; nullptr: none.
  std::unique_ptr<rc::cpu::HotExperts> hot;

  // Rearranges `source` into memory on `nodes`, on up to `threads` new threads.
  rc_plugin_weight(const rc_plugin_weight_info& info, const void* source,
                   const rc::cpu::Kernels& kernels, int threads,
                   const rc::cpu::Nodes& nodes);

  // Stays at `source`, of which tiles are made when they are used. Fails with
  // RC_E_UNSUPPORTED if it is not used as tiles.
  // `copies` of its matrices are kept on `nodes`, of those that were used last.
  rc_plugin_weight(const rc_plugin_weight_info& info, const void* source,
                   int64_t copies, const rc::cpu::Nodes& nodes);

  const float* elements() const {
    return reinterpret_cast<const float*>(data.get());
  }

  // Bytes that multiply() and tile_of_row() need for `count` tiles.
  uint64_t scratch_bytes(int64_t count) const;
  // The functions that multiply it; of_rows is nullptr if tiles are always
  // made.
  struct Products {
    rc::cpu::LinearFunction of_tiles, of_rows;
  };
  Products products(const rc::cpu::Kernels& kernels) const;
  // Sets where `task` finds the weight, of which it takes tiles `first` to
  // `first` + task.tiles of a matrix, and multiplies. `scratch` has
  // scratch_bytes(task.tiles) and is aligned to 64 bytes.
  void multiply(const rc::cpu::Kernels& kernels, const Products& products,
                int64_t matrix, int64_t first, rc::cpu::LinearTask& task,
                uint8_t* scratch) const;
  // Makes tile `index` of a matrix that hot->choose() gave a copy.
  void fill(const rc::cpu::Kernels& kernels, int64_t matrix, int64_t index,
            uint8_t* scratch) const;
  // A tile, as above, that has a row of the first matrix; *lane says where.
  const uint8_t* tile_of_row(const rc::cpu::Kernels& kernels, int64_t row,
                             uint8_t* scratch, int* lane) const;

 private:
  // Tiles `first` to `first` + `count` of a matrix, one after the other. They
  // may lie in `scratch`, at a multiple of 64 bytes.
  const uint8_t* tiles(const rc::cpu::Kernels& kernels, int64_t matrix,
                       int64_t first, int64_t count, uint8_t* scratch) const;
  // Makes one tile of the weight at `source`; `row` is as in pack_tile.
  void pack(const rc::cpu::Kernels& kernels, const uint8_t* source,
            int64_t matrix, int64_t index, uint8_t* tile, float* row) const;
};
