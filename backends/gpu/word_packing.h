// Tiles as kernels in GLSL read them; blocks.glsl describes them.
//
// The bits of the elements are rearranged so that a group of 32 has whole words
// whatever the type, and what the scales are made of becomes whole bytes; no
// element is decoded. Types that no shader reads (F64, I32, I64) are stored as
// F32, which is what they decode to.
#pragma once

#include <cstdint>
#include <vector>

#include "gpu/packing.h"

namespace rc::gpu {

class WordPacking final : public Packing {
 public:
  const char* undecodable(DType dtype) const override;
  uint64_t tile_bytes(DType dtype, int64_t columns,
                      uint64_t rows) const override;
  void pack(DType dtype, int64_t columns, uint64_t rows, uint64_t count,
            const uint8_t* source, uint8_t* tile) const override;
  std::vector<uint32_t> constants(DType dtype) const override;
};

}  // namespace rc::gpu
