// The ops by which each family is measured, at sizes from a few elements to
// what no cache holds.
#pragma once

#include <functional>
#include <vector>

#include "compute/tensor.h"
#include "tensor/op_work.h"

namespace rc::compute {

// The operands of the cases. Outlines have work but no elements.
struct MeasureOperands {
  // Elements of each of the two, from 0.1 to 2, which no function finds hard.
  static constexpr int64_t kMost = int64_t{1} << 22;
  std::shared_ptr<Context> context;
  Tensor a;
  Tensor b;
  bool outlines = false;

  // The first elements under a shape.
  Tensor first_of(const Tensor& tensor, const Shape& shape) const;
  // Of another type, with bytes of no meaning, and small numbers.
  Tensor of_type(DType dtype, const Shape& shape) const;
  // I32 numbers from 0 on, each below `end`.
  Tensor counting(int64_t count, int64_t end) const;
};

struct MeasureCase {
  OpFamily family;
  std::vector<int64_t> sizes;  // rising; what they mean is the case's
  // Makes the operands and gives the op.
  std::function<std::function<Tensor()>(const MeasureOperands& operands,
                                        int64_t size)>
      make;
};

const std::vector<MeasureCase>& measure_cases();

}  // namespace rc::compute
