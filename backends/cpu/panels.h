// The right side of products that are packed: panels of columns, which a thread
// makes for itself.
#pragma once

#include <algorithm>
#include <cstdint>

#include "cpu/compiler.h"

namespace rc::cpu {

// Rows of a panel: it stays in the second-level cache while rows of the left
// side go by.
inline constexpr int64_t kProductDepth = 2048;

inline int64_t panels_of(int64_t columns) {
  return (columns + kProductColumns - 1) / kProductColumns;
}
inline int whole_vectors(int columns) { return (columns + 15) / 16 * 16; }

// Of a panel of a product over `k` numbers.
inline uint64_t panel_bytes(int64_t k) {
  const int64_t floats = std::min(k, kProductDepth) * kProductColumns + 16;
  return static_cast<uint64_t>(floats) * sizeof(float);
}

// Into how many parts the `tiles` of the left side are divided for each of so
// many panels, so that all threads have some; each part packs the panel anew.
inline int64_t shares_of(const Compiler& c, int64_t panels, int64_t tiles) {
  constexpr int64_t kPartsPerThread = 8;
  constexpr int64_t kLeastTiles = 4;
  const int64_t parts = c.threads() == 1 ? 1 : c.threads() * kPartsPerThread;
  return std::clamp<int64_t>((parts + panels - 1) / panels, 1,
                             std::max<int64_t>(tiles / kLeastTiles, 1));
}

}  // namespace rc::cpu
