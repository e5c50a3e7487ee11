// Tiles as blocks.cl describes them: the units of the rows, an element of a
// plain type or a byte of a block, interleaved. Blocks of coded types are
// expanded (tensor/expand.h).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "gpu/packing.h"
#include "tensor/op.h"

namespace rc::gpu {

class BytePacking final : public Packing {
 public:
  // `doubles`: the device has double precision.
  explicit BytePacking(bool doubles) : doubles_(doubles) {}

  const char* undecodable(DType dtype) const override;
  uint64_t tile_bytes(DType dtype, int64_t columns,
                      uint64_t rows) const override;
  void pack(DType dtype, int64_t columns, uint64_t rows, uint64_t count,
            const uint8_t* source, uint8_t* tile) const override;
  std::vector<uint32_t> constants(DType dtype) const override;
  // Throws RC_E_UNSUPPORTED if a value of the op, unless it copies bytes, is of
  // a type that kernels do not read.
  void check_decodable(const Op& op,
                       std::span<const rc_plugin_value> values) const;

 private:
  bool doubles_;
};

}  // namespace rc::gpu
