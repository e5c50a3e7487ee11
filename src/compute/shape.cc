#include "compute/shape.h"

#include <algorithm>

#include "base/error.h"

namespace rc::compute {

std::string shape_text(const Shape& shape) {
  std::string text = "[";
  for (size_t i = 0; i < shape.size(); ++i) {
    text += cat(i > 0 ? ", " : "", shape[i]);
  }
  return text + "]";
}

int64_t element_count(const Shape& shape) {
  int64_t count = 1;
  for (const int64_t dimension : shape) count *= dimension;
  return count;
}

Shape dense_strides(const Shape& shape) {
  Shape strides(shape.size(), 0);
  int64_t stride = 1;
  for (size_t i = shape.size(); i-- > 0;) {
    strides[i] = stride;
    stride *= std::max<int64_t>(shape[i], 1);
  }
  return strides;
}

std::optional<Shape> broadcast(const Shape& a, const Shape& b) {
  const Shape& longer = a.size() >= b.size() ? a : b;
  const Shape& shorter = a.size() >= b.size() ? b : a;
  Shape result = longer;
  const size_t missing = longer.size() - shorter.size();
  for (size_t i = 0; i < shorter.size(); ++i) {
    int64_t& dimension = result[missing + i];
    if (dimension == 1) {
      dimension = shorter[i];
    } else if (shorter[i] != 1 && shorter[i] != dimension) {
      return std::nullopt;
    }
  }
  return result;
}

int resolve(int32_t dimension, const Shape& shape, const char* name) {
  const auto rank = static_cast<int32_t>(shape.size());
  if (dimension < -rank || dimension >= rank) {
    fail(RC_E_INVALID_ARGUMENT, name, ": ", dimension, ", but the shape is ",
         shape_text(shape), ": ", -rank, " to ", rank - 1, " are possible");
  }
  return dimension < 0 ? dimension + rank : dimension;
}

}  // namespace rc::compute
