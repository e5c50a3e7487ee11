// Tensors as lines along one dimension.
#pragma once

#include "compute/shape.h"

namespace rc::compute {

// [outer, n, inner], where n is that dimension.
inline Shape lines_of(const Shape& shape, int dimension) {
  const auto i = static_cast<size_t>(dimension);
  Shape as = {1, shape[i], 1};
  for (size_t j = 0; j < shape.size(); ++j) {
    if (j != i) as[j < i ? 0 : 2] *= shape[j];
  }
  return as;
}

}  // namespace rc::compute
