#include "blas/tiling.h"

#include <algorithm>

namespace rc::blas {
namespace {

// Tiles of this side take as long per multiplication as whole products, but for
// some percent.
constexpr int64_t kSide = 256;
constexpr int64_t kLeastSide = 64;
// Fewer multiplications, about 0.1 ms of one thread, are not worth waking
// another one for.
constexpr int64_t kFewest = int64_t{1} << 22;
// With as many tiles every thread of a usual machine gets some.
constexpr int64_t kEnoughTiles = 64;
// Multiplications of one call, which cannot be stopped: about 10 ms.
constexpr int64_t kDepth = 4096;

// Rows of tiles with a converted panel: it is used for many of them.
constexpr int64_t kPanelRows = 1024;
constexpr int64_t kPanelElements = int64_t{1} << 18;
constexpr int64_t kLeastPanelColumns = 16;

int64_t divided(int64_t a, int64_t b) { return (a + b - 1) / b; }

// Parts of `whole` that are about equal, at most `most` long, and a multiple of
// 16 where there are several.
int64_t part_of(int64_t whole, int64_t most) {
  if (whole <= most) return std::max<int64_t>(whole, 1);
  const int64_t part = divided(whole, divided(whole, most));
  return std::min(most, divided(part, 16) * 16);
}

}  // namespace

int64_t panel_columns(int64_t n, int64_t k) {
  const int64_t depth = std::clamp<int64_t>(k, 1, kDepth);
  return std::min({n, kSide, kPanelElements / depth});
}

int64_t panel_elements(int64_t n, int64_t k) {
  return panel_columns(n, k) * std::min(k, kDepth);
}

Tiling tiling_of(int64_t batches, int64_t m, int64_t n, int64_t k,
                 int64_t panel_columns) {
  Tiling tiling = {};
  tiling.depth = std::min(k, kDepth);
  const bool panels = panel_columns > 0;
  tiling.rows = part_of(m, panels ? kPanelRows : kSide);
  tiling.columns = part_of(n, panels ? panel_columns : kSide);
  const auto count = [&] {
    tiling.tiles_down = divided(m, tiling.rows);
    tiling.tiles_across = divided(n, tiling.columns);
    return batches * tiling.tiles_down * tiling.tiles_across;
  };
  // Smaller ones while there are too few and they are worth it.
  while (count() < kEnoughTiles &&
         tiling.rows * tiling.columns / 2 * k >= kFewest) {
    const bool down = !panels && tiling.rows >= tiling.columns;
    int64_t& side = down ? tiling.rows : tiling.columns;
    const int64_t least = panels ? kLeastPanelColumns : kLeastSide;
    if (side / 2 < least) break;
    side = divided(side / 2, 16) * 16;
  }
  const int64_t tiles = count();
  // Reading or converting b takes as long as multiplying some rows by it.
  constexpr int64_t kRowsOfReading = 8;
  const int64_t one = std::max<int64_t>(
      std::max(tiling.rows, kRowsOfReading) * tiling.columns * k, 1);
  tiling.batch =
      std::clamp<int64_t>(kFewest / one, 1, std::max<int64_t>(tiles, 1));
  tiling.tasks = divided(tiles, tiling.batch);
  return tiling;
}

}  // namespace rc::blas
