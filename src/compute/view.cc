#include <algorithm>

#include "base/checked.h"
#include "base/error.h"
#include "compute/ops.h"
#include "compute/tensor.h"

namespace rc::compute {
namespace {

int64_t block_size(const Tensor& tensor) {
  return dtype_info(tensor.dtype)->block_size;
}

bool is_last(int dimension, const Tensor& tensor) {
  return dimension + 1 == static_cast<int>(tensor.shape.size());
}

// Puts the product that is missing where the shape has -1.
void fill_in(Shape& shape, const Tensor& tensor) {
  const auto missing = std::find(shape.begin(), shape.end(), -1);
  if (missing == shape.end()) return;
  std::optional<int64_t> others = 1;
  for (auto i = shape.begin(); i != shape.end(); ++i) {
    if (i != missing && others) others = checked_mul(*others, *i);
  }
  if (!others || *others < 1 || tensor.elements() % *others != 0) {
    fail(RC_E_INVALID_ARGUMENT, tensor.text(), " cannot be reshaped to ",
         shape_text(shape), ": no number fits in place of -1");
  }
  *missing = tensor.elements() / *others;
}

}  // namespace

Tensor reshape(const Tensor& tensor, Shape shape) {
  if (shape.size() <= kMaxRank) fill_in(shape, tensor);
  check_shape(tensor.dtype, shape);
  if (element_count(shape) != tensor.elements()) {
    fail(RC_E_INVALID_ARGUMENT, tensor.text(), " cannot be reshaped to ",
         shape_text(shape), ": ", tensor.elements(), " and ",
         element_count(shape), " elements");
  }
  if (block_size(tensor) > 1 && shape.back() != tensor.shape.back()) {
    fail(RC_E_INVALID_ARGUMENT, tensor.text(), " cannot be reshaped to ",
         shape_text(shape), ": of types with blocks the last dimension stays");
  }
  Tensor view = dense(tensor);
  view.strides = dense_strides(shape);
  view.shape = std::move(shape);
  return view;
}

Tensor slice(const Tensor& tensor, int32_t dimension, int64_t begin,
             int64_t end, int64_t step) {
  const int i = resolve(dimension, tensor.shape, "dimension");
  const int64_t size = tensor.shape[i];
  if (begin < 0 || begin > end || end > size || step < 1) {
    fail(RC_E_INVALID_ARGUMENT, "a slice from ", begin, " to ", end, " by ",
         step, " of dimension ", i, " of ", tensor.text(),
         ": 0 <= begin <= end <= ", size, " and step >= 1 are needed");
  }
  const int64_t block = block_size(tensor);
  if (block > 1 && is_last(i, tensor) &&
      (step != 1 || begin % block != 0 || end % block != 0)) {
    fail(RC_E_INVALID_ARGUMENT, "a slice from ", begin, " to ", end, " by ",
         step, " of the last dimension of ", tensor.text(),
         ": it can only be cut at blocks of ", block, ", with step 1");
  }
  Tensor view = tensor;
  view.shape[i] = begin == end ? 0 : (end - begin - 1) / step + 1;
  if (view.elements() == 0) {
    view.outlined = tensor.without_numbers();
    view.storage = nullptr;
    view.offset = 0;
    view.strides = dense_strides(view.shape);
    return view;
  }
  view.offset += begin * view.strides[i];
  // A single index has no distance, whose product with step could overflow.
  if (view.shape[i] > 1) view.strides[i] *= step;
  return view;
}

Tensor transpose(const Tensor& tensor, int32_t dimension, int32_t other) {
  const int i = resolve(dimension, tensor.shape, "dimension");
  const int j = resolve(other, tensor.shape, "other");
  if (i != j && block_size(tensor) > 1 &&
      (is_last(i, tensor) || is_last(j, tensor))) {
    fail(RC_E_INVALID_ARGUMENT, "dimensions ", i, " and ", j, " of ",
         tensor.text(), ": the last one of a type with blocks stays");
  }
  Tensor view = tensor;
  std::swap(view.shape[i], view.shape[j]);
  std::swap(view.strides[i], view.strides[j]);
  return view;
}

}  // namespace rc::compute
