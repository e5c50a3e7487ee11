// Numbers that follow from the description of a format for its tiles. All of it
// is for constant expressions alone: if a function were left for the linker,
// together with the functions of src/tensor/formats that it calls, the linker
// would take the definition of any level. (They are not consteval because Clang
// 14 refuses that of templates.)
#pragma once

#include "cpu/kernels.h"
#include "tensor/formats/formats.h"

namespace rc::cpu::RC_CPU_LEVEL {

// Bytes of a tile for the quants of 32 columns.
constexpr int step_bytes(const BlockFormat& format) {
  return kTileRows * 4 * format.quant.low.width +
         kTileRows * 4 * format.quant.high.width / format.high_run;
}

// Whether the quants lie as three bits each.
constexpr bool has_three_bits(const BlockFormat& format) {
  return format.quant.low.width == 2 && format.quant.high.width == 1 &&
         format.high_run == 1;
}

constexpr int quant_bytes(const BlockFormat& format, int width) {
  return format.elements * width / 8;
}

// Whether `byte` of a block is one of its quants.
constexpr bool is_of(const BlockFormat& format, const BitPlane& plane,
                     int byte) {
  return plane.width > 0 && byte >= plane.at &&
         byte < plane.at + quant_bytes(format, plane.width);
}
constexpr bool is_quant(const BlockFormat& format, int byte) {
  return is_of(format, format.quant.low, byte) ||
         is_of(format, format.quant.high, byte);
}

// The first byte from `byte` on that is none.
constexpr int next_scale(const BlockFormat& format, int byte) {
  while (byte < format.bytes && is_quant(format, byte)) ++byte;
  return byte;
}

// Where the plane that begins with `byte` of the block, which is none of its
// quants, begins in the tile's.
constexpr int plane_at(const BlockFormat& format, int byte) {
  int before = 0;
  for (int i = 0; i < byte; ++i) before += is_quant(format, i) ? 0 : 1;
  return kTileRows * before;
}

// The offset that makes quants that are signed, or entries of a table,
// unsigned.
constexpr int offset_of(const BlockFormat& format) {
  if (format.table == ValueTable::kNone) {
    return format.quant.is_signed ? 128 : format.quant.zero;
  }
  int offset = 1;
  int largest = 0;
  for (int i = 0; i < 16; ++i) {
    const int value = values_of(format.table)[i];
    while (value + offset < 0) offset *= 2;
    if (value > largest) largest = value;
  }
  // Where eight bits are used, start() wants the offset of signed bytes.
  return largest + offset > 63 ? 128 : offset;
}

struct Entries {
  alignas(16) uint8_t bytes[16];
  bool wide;  // more than six bits
};
// With the offset added.
constexpr Entries entries_of(const BlockFormat& format) {
  Entries entries = {};
  for (int i = 0; i < 16; ++i) {
    // Of indices of three bits the fourth may be anything.
    const int value =
        values_of(format.table)[has_three_bits(format) ? i % 8 : i];
    entries.bytes[i] = static_cast<uint8_t>(value + offset_of(format));
    entries.wide = entries.wide || entries.bytes[i] > 63;
  }
  return entries;
}
template <int index>
constexpr Entries kEntries = entries_of(kBlockFormats[index]);

constexpr bool is_wide(const BlockFormat& format) {
  return format.table != ValueTable::kNone ? entries_of(format).wide
                                           : format.quant.low.width == 8;
}

// The largest of the quants, made unsigned.
constexpr int largest_of(const BlockFormat& format) {
  if (format.table == ValueTable::kNone) {
    return (1 << (format.quant.low.width + format.quant.high.width)) - 1;
  }
  const Entries entries = entries_of(format);
  int largest = 0;
  for (int i = 0; i < 16; ++i) {
    if (entries.bytes[i] > largest) largest = entries.bytes[i];
  }
  return largest;
}

// Whether the numbers from `first` up to `end` of a plane lie in neighbouring
// bytes, at the same place.
constexpr bool is_run(const BitPlane& plane, int first, int end) {
  for (int i = first; i < end; ++i) {
    if (place_of(plane, i).shift != place_of(plane, first).shift ||
        place_of(plane, i).byte != place_of(plane, first).byte + i - first) {
      return false;
    }
  }
  return true;
}

}  // namespace rc::cpu::RC_CPU_LEVEL
