// The operands of self-tests.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "tensor/dtype.h"

namespace rc::runtime::self_test {

// Numbers of about -1 to 1, the same each time (a linear congruential sequence
// with the constants of Knuth's MMIX); other ones for another `seed`.
inline std::vector<float> numbers(int64_t count, uint64_t seed = 20240229) {
  std::vector<float> values(static_cast<size_t>(count));
  uint64_t state = seed;
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

// Blocks of a type that is only decoded: random bytes, of which those are taken
// whose numbers lie within what weights have.
inline std::vector<std::byte> random_blocks(DType dtype, int64_t count) {
  constexpr int kDifferent = 11;
  constexpr int kMostTries = 4096;
  const DTypeInfo& info = *dtype_info(dtype);
  const auto bytes = static_cast<size_t>(info.block_bytes);
  std::vector<std::byte> found;
  std::vector<std::byte> block(bytes);
  std::vector<float> values(static_cast<size_t>(info.block_size));
  uint64_t state = 20240229;
  for (int i = 0; i < kDifferent; ++i) {
    for (int tries = 0; tries < kMostTries; ++tries) {
      for (std::byte& one : block) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        one = static_cast<std::byte>(state >> 56);
      }
      decode_row(dtype, block.data(), values.data(), info.block_size);
      double largest = 0;
      bool finite = true;
      for (const float value : values) {
        finite = finite && std::isfinite(value);
        largest = std::max(largest, std::abs(static_cast<double>(value)));
      }
      if (finite && largest > 0.05 && largest < 20) break;
    }
    found.insert(found.end(), block.begin(), block.end());
  }
  std::vector<std::byte> all;
  all.reserve(bytes * static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i) {
    // 7 and 11 have no divisor in common: neighbours differ.
    const auto from =
        found.begin() +
        static_cast<std::ptrdiff_t>(i * 7 % kDifferent) * info.block_bytes;
    all.insert(all.end(), from, from + info.block_bytes);
  }
  return all;
}

inline std::vector<std::byte> encoded(DType dtype, int64_t rows,
                                      int64_t columns) {
  if (!encodable(dtype)) {
    return random_blocks(dtype,
                         rows * (columns / dtype_info(dtype)->block_size));
  }
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
