// Tensors for tests.
#pragma once

#include <cstring>
#include <memory>
#include <vector>

#include "api_util.h"
#include "compute/shape.h"
#include "runcible/tensor.h"

namespace rc::test {

using Tensor = std::unique_ptr<rc_tensor, Release<rc_tensor_release>>;
using compute::Shape;

inline Tensor make(rc_backend* backend, const Shape& shape,
                   const std::vector<float>& numbers) {
  rc_tensor* tensor = nullptr;
  EXPECT_OK(rc_tensor_from_data(
      backend, RC_DTYPE_F32, shape.data(), static_cast<int32_t>(shape.size()),
      numbers.data(), numbers.size() * sizeof(float), &tensor));
  return Tensor(tensor);
}

inline Tensor make_random(rc_backend* backend, const Shape& shape,
                          uint64_t seed) {
  rc_random_options options = RC_RANDOM_OPTIONS_INIT;
  options.seed = seed;
  rc_tensor* tensor = nullptr;
  EXPECT_OK(rc_tensor_random(backend, shape.data(),
                             static_cast<int32_t>(shape.size()), &options,
                             &tensor));
  return Tensor(tensor);
}

inline std::vector<std::byte> bytes_of(rc_tensor* tensor) {
  size_t size = 0;
  EXPECT_OK(rc_tensor_size(tensor, nullptr, &size));
  std::vector<std::byte> bytes(size);
  EXPECT_OK(rc_tensor_read(tensor, bytes.data(), size));
  return bytes;
}

inline std::vector<float> numbers_of(rc_tensor* tensor) {
  const std::vector<std::byte> bytes = bytes_of(tensor);
  std::vector<float> numbers(bytes.size() / sizeof(float));
  std::memcpy(numbers.data(), bytes.data(), bytes.size());
  return numbers;
}

}  // namespace rc::test
