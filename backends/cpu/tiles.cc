#include "cpu/tiles.h"

#include <cstring>

#include "tensor/dtype.h"
#include "tensor/formats/formats.h"

namespace rc::cpu {

rc_dtype tile_dtype(rc_dtype dtype) {
  if (dtype == RC_DTYPE_F16 || dtype == RC_DTYPE_BF16) return dtype;
  const BlockFormat* format = find_block_format(dtype);
  if (format != nullptr && !format->of_activations) return dtype;
  return find_decoder(dtype) != nullptr ? RC_DTYPE_F32 : -1;
}

bool takes_quantized(rc_dtype tile) {
  return tile != RC_DTYPE_F32 && tile != RC_DTYPE_F16 && tile != RC_DTYPE_BF16;
}

void pack_tile(const Kernels& kernels, rc_dtype dtype, const uint8_t* source,
               uint64_t row_bytes, int rows, int64_t columns, uint8_t* tile,
               float* row) {
  const PackFunction pack = kernels.pack(dtype);
  if (pack != nullptr) {
    pack(source, static_cast<int64_t>(row_bytes), rows, columns, tile);
    return;
  }
  constexpr size_t kColumnBytes = kTileRows * sizeof(float);
  if (rows < kTileRows) {
    std::memset(tile, 0, static_cast<size_t>(columns) * kColumnBytes);
  }
  const Decoder decode = find_decoder(dtype);
  for (int lane = 0; lane < rows; ++lane) {
    decode(source + lane * row_bytes, row, columns);
    for (int64_t i = 0; i < columns; ++i) {
      std::memcpy(tile + i * kColumnBytes + lane * sizeof(float), row + i,
                  sizeof(float));
    }
  }
}

}  // namespace rc::cpu
