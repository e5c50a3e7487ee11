// Norms of vectors of F64 whose squares F64 cannot hold.
#pragma once

#include <cmath>
#include <limits>

namespace rc {

// The power of two by which elements are multiplied before their squares are
// added up, found from the mean square of those as they are; 1 if its root is
// exact. The epsilon is multiplied by it twice.
inline double norm_scale(double mean_square) {
  if (!(mean_square <= std::numeric_limits<double>::max())) return 0x1p-600;
  return mean_square < 0x1p-900 ? 0x1p600 : 1;
}

}  // namespace rc
