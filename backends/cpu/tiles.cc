#include "cpu/tiles.h"

#include <cstring>

#include "base/checked.h"
#include "cpu/activations.h"
#include "tensor/dtype.h"
#include "tensor/expand.h"
#include "tensor/formats/formats.h"

namespace rc::cpu {

rc_dtype tile_dtype(rc_dtype dtype) {
  if (dtype == RC_DTYPE_F16 || dtype == RC_DTYPE_BF16) return dtype;
  if (dtype_info(dtype) == nullptr) return -1;
  const rc_dtype expanded = expanded_type(dtype);
  const BlockFormat* format = find_block_format(expanded);
  if (format != nullptr && !format->of_activations) return expanded;
  return find_decoder(dtype) != nullptr ? RC_DTYPE_F32 : -1;
}

bool is_decoded(rc_dtype dtype) {
  return dtype != RC_DTYPE_F32 && tile_dtype(dtype) == RC_DTYPE_F32;
}

rc_dtype product_tile_dtype(rc_dtype dtype, int64_t columns) {
  const bool half = dtype == RC_DTYPE_F16 || dtype == RC_DTYPE_BF16;
  return half && columns % kColumns16 == 0 ? kQuants16 : tile_dtype(dtype);
}

ActivationForm activation_form(rc_dtype tile) {
  switch (tile) {
    case RC_DTYPE_F32:
    case RC_DTYPE_F16:
    case RC_DTYPE_BF16:
      return ActivationForm::kFloats;
    case kQuants16:
      return ActivationForm::kQuants16;
    default:
      return ActivationForm::kQuants;
  }
}

std::optional<uint64_t> tile_bytes(rc_dtype tile, int64_t columns) {
  if (tile == kQuants16) {
    return checked_mul(static_cast<uint64_t>(columns / kColumns16),
                       uint64_t{kBlockBytes16});
  }
  const auto of_row = expanded_row_bytes(tile, columns);
  if (!of_row) return std::nullopt;
  uint64_t copies = 0;
  if (const BlockFormat* format = find_block_format(tile)) {
    copies =
        static_cast<uint64_t>(columns / format->elements) *
        static_cast<uint64_t>(format->bytes - bytes_without_copies(*format));
  }
  return checked_mul(*of_row - copies, uint64_t{kTileRows});
}

namespace {

// Blocks of a coded type, expanded for all rows at one place at a time.
void pack_coded(const Kernels& kernels, rc_dtype dtype, Expander expand,
                const uint8_t* source, uint64_t row_bytes, int rows,
                int64_t columns, uint8_t* tile) {
  const DTypeInfo& type = *dtype_info(dtype);
  const rc_dtype expanded = expanded_type(dtype);
  const PackFunction pack = kernels.pack(expanded, expanded);
  const auto bytes =
      static_cast<int64_t>(*expanded_row_bytes(expanded, type.block_size));
  const uint64_t tile_step = *tile_bytes(expanded, type.block_size);
  constexpr int64_t kMostBytes = 256;
  uint8_t blocks[kTileRows * kMostBytes];
  for (int64_t i = 0; i < columns; i += type.block_size) {
    for (int row = 0; row < rows; ++row) {
      expand(source + row * row_bytes, blocks + row * bytes, type.block_size);
    }
    pack(blocks, bytes, rows, type.block_size, tile);
    source += type.block_bytes;
    tile += tile_step;
  }
}

}  // namespace

void pack_tile(const Kernels& kernels, rc_dtype dtype, rc_dtype tile_type,
               const uint8_t* source, uint64_t row_bytes, int rows,
               int64_t columns, uint8_t* tile, float* row) {
  const PackFunction pack = kernels.pack(dtype, tile_type);
  if (pack != nullptr) {
    pack(source, static_cast<int64_t>(row_bytes), rows, columns, tile);
    return;
  }
  if (const Expander expand = find_expander(dtype)) {
    return pack_coded(kernels, dtype, expand, source, row_bytes, rows, columns,
                      tile);
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
