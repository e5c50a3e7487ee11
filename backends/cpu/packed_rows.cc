#include "cpu/packed_rows.h"

#include <algorithm>

namespace rc::cpu {

void add_packed_rows(Compiler& c, int32_t input, int64_t first, int64_t step,
                     const PackedRows& packed, float* to) {
  const int64_t tiles = packed.tiles();
  const int64_t k = packed.k;
  // Long rows are cut.
  const int64_t parts = (k + kChunk - 1) / kChunk;
  const Place x = c.place(input);
  c.add(
      {c.area(input)}, {c.own_area(input)},
      [=](const Run&) { return packed.matrices * packed.rows * k; },
      [=](const Run&) { return packed.matrices * tiles * parts; },
      [=](Run& run, const Share& share) {
        run.each_row(share, [&](int64_t unit) {
          const int64_t column = unit % parts * kChunk;
          const int64_t tile = unit / parts % tiles;
          const int64_t matrix = unit / parts / tiles;
          const int64_t row = tile * kProductRows;
          run.kernels.transpose(
              run.at<const float>(x) + first + matrix * step + row * k + column,
              k, std::min<int64_t>(kProductRows, packed.rows - row),
              std::min(kChunk, k - column),
              to + (matrix * tiles + tile) * packed.tile_floats() +
                  column * kProductRows,
              kProductRows);
        });
      });
}

}  // namespace rc::cpu
