// Products with a transposed view on their left.
#pragma once

#include <optional>

#include "compute/tensor.h"

namespace rc::compute {

// Computes a times b in one program with the copy of a, which devices may omit.
// `a` is a view of F32 whose rows lie side by side, read as `a_as`; `b` is
// dense, read as `b_as`. Returns nullopt if the caller has to copy a first: for
// large matrices, a choice of devices, a recording graph, an outline, or an op
// that the device does not support.
std::optional<Tensor> product_across(const Tensor& a, const Shape& a_as,
                                     const Tensor& b, const Shape& b_as,
                                     bool transposed, const Shape& shape);

}  // namespace rc::compute
