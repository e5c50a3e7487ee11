// Single rows of a weight, decoded to floats.
#include "cpu/kernels/formats.h"
#include "cpu/kernels/levels.h"
#include "cpu/kernels/plain.h"

namespace rc::cpu::RC_CPU_LEVEL {
namespace {

// The bytes of all 16 rows are decoded and one row of them kept: a row of a
// table is asked for once per token.
template <class Format>
void table_row(const uint8_t* tile, int lane, int64_t columns, float* y) {
  for (int64_t column = 0; column < columns; column += Format::kColumns) {
    const Format format(tile);
    tile += Format::kBytes;
    for (int j = 0; j < Format::kColumns / 32; ++j) {
      uint8_t bytes[8][64];
      const auto keep = [&](const Pair& pair, int h) {
        store_bytes(bytes[2 * h], pair.first);
        store_bytes(bytes[2 * h + 1], pair.second);
      };
      keep(format.template pair<0>(j), 0);
      keep(format.template pair<1>(j), 1);
      keep(format.template pair<2>(j), 2);
      keep(format.template pair<3>(j), 3);
      for (int half = 0; half < 2; ++half) {
        float scale[kTileRows], minimum[kTileRows];
        store(scale, format.scale(j, half));
        store(minimum, format.minimum(j, half));
        for (int i = 16 * half; i < 16 * half + 16; ++i) {
          const int q = bytes[i / 4][4 * lane + i % 4] - Format::kOffset;
          float value = scale[lane] * (float)q;
          if constexpr (Format::kMinimum) value = value - minimum[lane];
          *y++ = value;
        }
      }
    }
  }
}

template <class Plain>
void plain_row(const uint8_t* tile, int lane, int64_t columns, float* y) {
  if constexpr (Plain::kBytes == kTileRows * sizeof(float)) {
    const float* from = (const float*)tile + lane;
    for (int64_t column = 0; column < columns; ++column) {
      y[column] = from[column * kTileRows];
    }
    return;
  }
  for (int64_t column = 0; column < columns; ++column) {
    float values[kTileRows];
    store(values, Plain::column(tile + column * Plain::kBytes));
    y[column] = values[lane];
  }
}

template <class Format>
struct TableRow {
  static constexpr TableFunction kFunction = table_row<Format>;
};

}  // namespace

TableFunction table_function(rc_dtype weight) {
  switch (weight) {
    case RC_DTYPE_F32:
      return plain_row<PlainF32>;
    case RC_DTYPE_F16:
      return plain_row<PlainF16>;
    case RC_DTYPE_BF16:
      return plain_row<PlainBF16>;
    default:
      return of_format<TableFunction, TableRow>(weight);
  }
}

}  // namespace rc::cpu::RC_CPU_LEVEL
