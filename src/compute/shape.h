// Shapes as tensors of people who compute have them: rank 1 to 4, dimensions
// from 0 on, slowest first.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace rc::compute {

using Shape = std::vector<int64_t>;

inline constexpr int kMaxRank = 4;

// "[2, 3]".
std::string shape_text(const Shape& shape);

// The product of the dimensions; the shape's elements have been counted before.
int64_t element_count(const Shape& shape);

// Distances from element to element along each dimension, in elements.
Shape dense_strides(const Shape& shape);

// nullopt unless each pair of dimensions is equal or holds a 1.
std::optional<Shape> broadcast(const Shape& a, const Shape& b);

// A dimension given by a caller, who may count from the end. Throws
// RC_E_INVALID_ARGUMENT.
int resolve(int32_t dimension, const Shape& shape, const char* name);

}  // namespace rc::compute
