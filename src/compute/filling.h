// Tensors whose numbers follow from few: their memory is asked for before any
// number is computed, and written in parts, so that the host never holds more
// than a part.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "compute/tensor.h"

namespace rc::compute {

// Writes `count` elements, from element `first` on, to `data`, which holds what
// the previous call wrote. Both are multiples of the block size of the type.
using PartWriter =
    std::function<void(int64_t first, int64_t count, std::byte* data)>;

// Calls `write` for each part of a dense tensor in order, and uploads the part.
// Throws RC_E_TIMEOUT if that takes longer than the timeout_ms of the context.
void fill(const Tensor& tensor, const PartWriter& write);

// A tensor of which each element is `number`. Throws RC_E_UNSUPPORTED if the
// type cannot be encoded.
Tensor filled(std::shared_ptr<Context> context, DType dtype, const Shape& shape,
              float number);

// The result of an op that has nothing to compute: each element is `number`. It
// lies where the first operand does, and is an outline if any operand is. NULL:
// absent.
Tensor constant_result(std::initializer_list<const Tensor*> operands,
                       DType dtype, const Shape& shape, float number = 0);

// The operands of an op, all as outlines, if one of them is an outline and
// another has numbers: nothing may be computed from those. nullopt: the
// operands are good as they are. An operand may be NULL, and stays so.
class Outlines {
 public:
  static std::optional<Outlines> of(
      std::initializer_list<const Tensor*> operands);
  const Tensor& operator[](size_t i) const { return *tensors_[i]; }
  const Tensor* optional(size_t i) const {
    return tensors_[i] ? &*tensors_[i] : nullptr;
  }

 private:
  std::vector<std::optional<Tensor>> tensors_;
};
// The same of one tensor: itself if it has no numbers.
Tensor outline_of(const Tensor& tensor);

}  // namespace rc::compute
