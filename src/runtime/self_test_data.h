// What the ops of self-tests are given.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "tensor/dtype.h"

namespace rc::runtime::self_test {

// Numbers of about -1 to 1, the same each time (a linear congruential sequence
// with the constants of Knuth's MMIX).
inline std::vector<float> numbers(int64_t count) {
  std::vector<float> values(static_cast<size_t>(count));
  uint64_t state = 20240229;
  for (float& value : values) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    value = static_cast<float>(static_cast<int32_t>(state >> 32)) * 0x1p-31f;
  }
  return values;
}

template <class T>
std::vector<std::byte> bytes_of(const std::vector<T>& values) {
  const auto bytes = std::as_bytes(std::span(values));
  return std::vector<std::byte>(bytes.begin(), bytes.end());
}

inline int64_t count_of(const std::vector<int64_t>& shape, size_t from) {
  int64_t count = 1;
  for (size_t i = from; i < shape.size(); ++i) count *= shape[i];
  return count;
}

inline std::vector<std::byte> encoded(DType dtype, int64_t rows,
                                      int64_t columns) {
  const std::vector<float> values = numbers(rows * columns);
  const uint64_t row = *row_bytes(dtype, columns);
  std::vector<std::byte> bytes(static_cast<size_t>(row) *
                               static_cast<size_t>(rows));
  for (int64_t r = 0; r < rows; ++r) {
    encode_row(dtype, values.data() + r * columns,
               bytes.data() + static_cast<uint64_t>(r) * row, columns);
  }
  return bytes;
}

}  // namespace rc::runtime::self_test
