// Products with a transposed view on their left.
#pragma once

#include <optional>

#include "compute/tensor.h"

namespace rc::compute {

// The product of a, a view of F32 of which rows lie side by side, as `a_as`
// with b, which is dense, as `b_as`: the copy of a, which devices may do
// without, is of the same program. Nothing where it had better be made before:
// of large matrices, or where there is a choice of devices, a graph that
// records, an outline or an op that the device lacks.
std::optional<Tensor> product_across(const Tensor& a, const Shape& a_as,
                                     const Tensor& b, const Shape& b_as,
                                     bool transposed, const Shape& shape);

}  // namespace rc::compute
