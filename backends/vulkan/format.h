// How weights of each type lie on the device. shaders/blocks.glsl describes the
// sections of a tile and reads them; this writes them.
//
// The bits of the elements are rearranged so that a group of 32 has whole words
// whatever the type, and what the scales are made of becomes whole bytes; no
// element is decoded. Types that no shader reads (F64, I32, I64) are stored as
// F32, which is what they decode to.
#pragma once

#include <cstdint>
#include <vector>

#include "tensor/dtype.h"

namespace rc::vulkan {

inline constexpr int64_t kGroup = 32;

// The constants of shaders/blocks.glsl, by name.
struct Format {
  DType dtype;    // of what is stored
  uint32_t bits;  // kElementBits
  uint32_t low_plane = 0;
  uint32_t high_plane = 0;
  uint32_t scaling = 0;
  int32_t zero = 0;
  uint32_t meaning = 0;
};

// nullptr if the type has no decoder.
const Format* find_format(DType dtype);

// A tile of `rows` rows.
struct Tile {
  const Format* format;
  uint64_t rows;
  uint64_t groups;

  uint64_t quad_words() const { return format->bits; }  // of a group of a row
  uint64_t plane_words() const {
    return format->low_plane + format->high_plane;
  }
  uint64_t scale_words() const;  // of a row
  uint64_t words() const {
    return (groups * (quad_words() + plane_words()) + scale_words()) * rows;
  }
};

// Writes row number `row` of a tile. `source` holds `columns` elements of
// `dtype`, whose format is tile.format; the tile was zero. `scratch` is for the
// function's own use.
void pack_row(const Tile& tile, DType dtype, const void* source,
              int64_t columns, uint64_t row, uint32_t* target,
              std::vector<float>& scratch);

}  // namespace rc::vulkan
