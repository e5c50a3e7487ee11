// Weights as tiles of 16 interleaved rows (the layout: kernels/formats.h).
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <optional>

#include "cpu/kernels.h"

namespace rc::cpu {

// The type in which a weight of `dtype` is stored as tiles: itself, what it
// expands into (tensor/expand.h), or F32 for a type without a layout of its
// own; -1 if it cannot be decoded.
rc_dtype tile_dtype(rc_dtype dtype);

// Whether it is F32 of decoded elements.
bool is_decoded(rc_dtype dtype);

// The same of a weight of which products are made, but no rows are read:
// kQuants16 where that is possible.
rc_dtype product_tile_dtype(rc_dtype dtype, int64_t columns);

// Bytes of a tile of such a type with `columns` columns; as row_bytes.
std::optional<uint64_t> tile_bytes(rc_dtype tile, int64_t columns);

// Packs `rows` (at most 16) rows of `columns` elements, each row_bytes apart in
// the layout of `dtype`, into one tile of type `tile_type`, which is one of
// those above. The lanes of missing rows are zero. `tile` has tile_bytes()
// bytes; `row` is room for `columns` floats where is_decoded(dtype), and unused
// otherwise.
void pack_tile(const Kernels& kernels, rc_dtype dtype, rc_dtype tile_type,
               const uint8_t* source, uint64_t row_bytes, int rows,
               int64_t columns, uint8_t* tile, float* row);

// Copies `lanes` floats that are mostly whole tiles: few calls cost as much as
// what they would copy.
inline void copy_lanes(const float* from, int64_t lanes, float* to) {
  for (; lanes >= kTileRows; lanes -= kTileRows) {
    std::memcpy(to, from, kTileRows * sizeof(float));
    from += kTileRows;
    to += kTileRows;
  }
  std::copy_n(from, lanes, to);
}

}  // namespace rc::cpu
