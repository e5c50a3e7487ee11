// The layout in which the kernels of a language read weights.
//
// A matrix is cut into tiles of rows, and a tile is laid out so that the lanes
// of a work-group, which have a row each, read neighbouring words.
#pragma once

#include <cstdint>
#include <vector>

#include "tensor/dtype.h"

namespace rc::gpu {

// Columns that a lane decodes together; tiles have whole groups of them.
inline constexpr int64_t kGroup = 32;

class Packing {
 public:
  virtual ~Packing() = default;

  // "" if kernels read weights of the type, else why they do not.
  virtual const char* undecodable(DType dtype) const = 0;
  // Bytes of a tile of `rows` rows, of a type that kernels read.
  virtual uint64_t tile_bytes(DType dtype, int64_t columns,
                              uint64_t rows) const = 0;
  // Writes the first `count` of the `rows` rows of a tile that was zero and is
  // aligned to words. `source` holds the rows one after the other, as files do.
  virtual void pack(DType dtype, int64_t columns, uint64_t rows, uint64_t count,
                    const uint8_t* source, uint8_t* tile) const = 0;
  // The constants by which a kernel knows the type.
  virtual std::vector<uint32_t> constants(DType dtype) const = 0;
};

}  // namespace rc::gpu
