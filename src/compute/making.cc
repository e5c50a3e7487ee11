// Tensors of numbers that follow from a few, and of memory of the caller's.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>
#include <vector>

#include "base/error.h"
#include "compute/filling.h"
#include "compute/tensor.h"

namespace rc::compute {
namespace {

template <class T>
T nearest(double number) {
  if constexpr (std::is_floating_point_v<T>) {
    return static_cast<T>(number);
  } else {
    // The bounds are powers of two, exact as doubles; the upper one is no T.
    constexpr double kLimit =
        -static_cast<double>(std::numeric_limits<T>::min());
    if (number >= kLimit) return std::numeric_limits<T>::max();
    if (number <= -kLimit) return std::numeric_limits<T>::min();
    return static_cast<T>(std::nearbyint(number));
  }
}

// The numbers start + i * step.
struct Series {
  double start;
  double step;

  double number(int64_t i) const {
    return start + static_cast<double>(i) * step;
  }
};

template <class T>
PartWriter writer(Series series) {
  return [series](int64_t first, int64_t count, std::byte* data) {
    for (int64_t i = 0; i < count; ++i) {
      const T number = nearest<T>(series.number(first + i));
      std::memcpy(data + static_cast<size_t>(i) * sizeof(T), &number,
                  sizeof(T));
    }
  };
}

// Types that only an encoder writes.
PartWriter encoder(DType dtype, Series series) {
  return [dtype, series](int64_t first, int64_t count, std::byte* data) {
    std::vector<float> numbers(static_cast<size_t>(count));
    for (int64_t i = 0; i < count; ++i) {
      numbers[static_cast<size_t>(i)] =
          static_cast<float>(series.number(first + i));
    }
    encode_row(dtype, numbers.data(), data, count);
  };
}

PartWriter writer_of(DType dtype, Series series) {
  switch (dtype) {
    case RC_DTYPE_F32:
      return writer<float>(series);
    case RC_DTYPE_F64:
      return writer<double>(series);
    case RC_DTYPE_I8:
      return writer<int8_t>(series);
    case RC_DTYPE_I16:
      return writer<int16_t>(series);
    case RC_DTYPE_I32:
      return writer<int32_t>(series);
    case RC_DTYPE_I64:
      return writer<int64_t>(series);
    case RC_DTYPE_F16:
    case RC_DTYPE_BF16:
      return encoder(dtype, series);
  }
  fail(RC_E_UNSUPPORTED, "arange of ", dtype_name(dtype),
       "; F32, F16, BF16, F64 and I8 to I64 are possible");
}

}  // namespace

Tensor arange(std::shared_ptr<Context> context, DType dtype, double start,
              double stop, double step) {
  if (!std::isfinite(start) || !std::isfinite(stop) || !std::isfinite(step) ||
      step == 0) {
    fail(RC_E_INVALID_ARGUMENT, "arange from ", start, " to ", stop, " by ",
         step, ": finite numbers and a step other than 0 are needed");
  }
  const double count = std::max(0.0, std::ceil((stop - start) / step));
  constexpr double kMost = 0x1p53;  // beyond it neighbours are the same
  if (!(count < kMost)) {
    fail(RC_E_INVALID_ARGUMENT, "arange from ", start, " to ", stop, " by ",
         step, ": more elements than can be counted");
  }
  const Shape shape = {static_cast<int64_t>(count)};
  static_cast<void>(check_shape(dtype, shape));
  const PartWriter write = writer_of(dtype, {start, step});
  Tensor tensor = make_result(std::move(context), dtype, shape);
  fill(tensor, write);
  return tensor;
}

Tensor borrow(std::shared_ptr<Context> context, DType dtype, const Shape& shape,
              std::span<std::byte> data, std::shared_ptr<const void> owner) {
  const uint64_t bytes = check_shape(dtype, shape);
  if (bytes != data.size()) {
    fail(RC_E_INVALID_ARGUMENT, "bytes: ", data.size(), ", but ",
         dtype_name(dtype), " ", shape_text(shape), " takes ", bytes);
  }
  const auto unit = static_cast<uint64_t>(dtype_info(dtype)->block_bytes);
  const uint64_t alignment = uint64_t{1} << std::countr_zero(unit);
  const auto address = reinterpret_cast<uintptr_t>(data.data());
  if (address % alignment != 0) {
    fail(RC_E_INVALID_ARGUMENT, "data: the address is ", address % alignment,
         " bytes beyond a multiple of ", alignment, ", as which ",
         dtype_name(dtype), " has to lie; rc_tensor_from_data copies it");
  }
  if (bytes == 0) return make_tensor(std::move(context), dtype, shape);
  auto buffer =
      context->device()->borrow_buffer(data.data(), bytes, std::move(owner));
  Tensor tensor;
  tensor.storage = std::make_shared<Storage>(std::move(buffer));
  tensor.context = std::move(context);
  tensor.dtype = dtype;
  tensor.shape = shape;
  tensor.strides = dense_strides(shape);
  return tensor;
}

std::byte* memory_of(const Tensor& tensor) {
  if (tensor.empty()) return nullptr;
  const auto refuse = [&](const char* why) {
    fail(RC_E_INVALID_ARGUMENT, "the ", tensor.text(), why);
  };
  if (tensor.recorded()) refuse(" was recorded in a graph and has no numbers");
  if (tensor.outline()) refuse(" is an outline, which has no numbers");
  if (!tensor.dense()) {
    refuse(
        " is a view whose elements do not lie in order; rc_tensor_read "
        "copies them in order");
  }
  return tensor.storage->buffer()->memory() + tensor.byte_offset();
}

}  // namespace rc::compute
