#include "compute/measure_cases.h"

#include <algorithm>
#include <cmath>

#include "compute/ops.h"

namespace rc::compute {
namespace {

using Call = std::function<Tensor()>;

const std::vector<int64_t> kSizes = {64, 4096, 32768, 262144, 1048576, 4194304};
// Of ops that take longer.
const std::vector<int64_t> kSlowSizes = {64, 4096, 32768, 262144, 1048576};

// [lines, elements] with so many elements: many lines where there are enough.
Shape lines_of(int64_t size) {
  const int64_t length = std::clamp<int64_t>(size / 64, 1, 512);
  return {size / length, length};
}

// [length, places]: the same lines, along the first dimension.
Shape columns_of(int64_t size) {
  const Shape lines = lines_of(size);
  return {lines[1], lines[0]};
}

MeasureCase unary_case(OpFamily family, int32_t function) {
  return {family, kSlowSizes,
          [function](const MeasureOperands& with, int64_t size) -> Call {
            return [x = with.first_of(with.a, {size}), function] {
              return unary(x, function);
            };
          }};
}

MeasureCase binary_case(OpFamily family, int32_t function,
                        const std::vector<int64_t>& sizes) {
  return {family, sizes,
          [function](const MeasureOperands& with, int64_t size) -> Call {
            return [a = with.first_of(with.a, {size}),
                    b = with.first_of(with.b, {size}),
                    function] { return binary(a, b, function); };
          }};
}

// Over one dimension of a shape that follows from the size.
MeasureCase line_case(OpFamily family, Shape (*shape_of)(int64_t size),
                      int32_t dimension,
                      Tensor (*compute)(const Tensor& x, int32_t dimension)) {
  return {family, kSlowSizes,
          [=](const MeasureOperands& with, int64_t size) -> Call {
            return [=, x = with.first_of(with.a, shape_of(size))] {
              return compute(x, dimension);
            };
          }};
}

Tensor softened(const Tensor& x, int32_t dimension) {
  return softmax(x, dimension);
}

Tensor sum(const Tensor& x, int32_t dimension) {
  return reduce(x, dimension, false, RC_REDUCE_SUM);
}
Tensor largest(const Tensor& x, int32_t dimension) {
  return argmax(x, dimension, false);
}
Shape whole(int64_t size) { return {1, size}; }

// [n, k] of a type with k as long as a block of any type needs.
Shape matrix_of(int64_t elements) {
  const int64_t columns = elements < 65536 ? 256 : 1024;
  return {std::max<int64_t>(elements / columns, 1), columns};
}

// Products by the right one's type, for size [size, 256] x [size, 256]^T, or of
// larger ones [size, size] x [size, size]^T.
MeasureCase product_case(OpFamily family, DType dtype) {
  return {family,
          {4, 16, 64, 256, 512},
          [dtype](const MeasureOperands& with, int64_t size) -> Call {
            const int64_t depth = std::max<int64_t>(size, 256);
            return [a = with.first_of(with.a, {size, depth}),
                    b = with.of_type(dtype, {size, depth})] {
              return matmul(a, b, true);
            };
          }};
}

MeasureCase vector_case(OpFamily family, DType dtype) {
  return {family, kSizes,
          [dtype](const MeasureOperands& with, int64_t size) -> Call {
            const Shape shape = matrix_of(std::max<int64_t>(size, 256));
            return
                [a = with.first_of(with.a, {1, shape[1]}),
                 b = with.of_type(dtype, shape)] { return matmul(a, b, true); };
          }};
}

MeasureCase convolution_case(OpFamily family, int64_t channels,
                             int32_t groups) {
  return {family,
          {4, 8, 16, 32, 64},
          [=](const MeasureOperands& with, int64_t size) -> Call {
            Convolution how;
            how.padding[0] = how.padding[1] = 1;
            how.groups = groups;
            return
                [x = with.first_of(with.a, {1, channels, size, size}),
                 w = with.first_of(with.b, {channels, channels / groups, 3, 3}),
                 how] { return conv2d(x, w, nullptr, how); };
          }};
}

std::vector<MeasureCase> make_cases() {
  std::vector<MeasureCase> cases = {
      binary_case(OpFamily::kElements, RC_BINARY_ADD, kSizes),
      unary_case(OpFamily::kExponentials, RC_FUNCTION_SILU),
      unary_case(OpFamily::kSpecials, RC_FUNCTION_GELU),
      binary_case(OpFamily::kPowers, RC_BINARY_POW, kSlowSizes),
      line_case(OpFamily::kSoftmaxLines, lines_of, 1, softened),
      line_case(OpFamily::kSoftmaxAcross, columns_of, 0, softened),
      line_case(OpFamily::kReduceLines, lines_of, 1, sum),
      line_case(OpFamily::kReduceAcross, columns_of, 0, sum),
      line_case(OpFamily::kReduceWhole, whole, 1, sum),
      line_case(OpFamily::kArgmaxLines, lines_of, 1, largest),
      line_case(OpFamily::kArgmaxAcross, columns_of, 0, largest),
      line_case(OpFamily::kArgmaxWhole, whole, 1, largest),
      product_case(OpFamily::kProductsF32, RC_DTYPE_F32),
      product_case(OpFamily::kProductsF16, RC_DTYPE_F16),
      product_case(OpFamily::kProductsQ8, RC_DTYPE_Q8_0),
      product_case(OpFamily::kProductsQ4, RC_DTYPE_Q4_K),
      vector_case(OpFamily::kVectorsF32, RC_DTYPE_F32),
      vector_case(OpFamily::kVectorsF16, RC_DTYPE_F16),
      vector_case(OpFamily::kVectorsQ8, RC_DTYPE_Q8_0),
      vector_case(OpFamily::kVectorsQ4, RC_DTYPE_Q4_K),
      convolution_case(OpFamily::kConvolutions, 32, 1),
      convolution_case(OpFamily::kDepthwise, 32, 32),
  };
  cases.push_back({OpFamily::kCopies, kSlowSizes,
                   [](const MeasureOperands& with, int64_t size) -> Call {
                     const auto side = static_cast<int64_t>(
                         std::sqrt(static_cast<double>(size)));
                     return [x = transpose(with.first_of(with.a, {side, side}),
                                           0, 1)] { return dense(x); };
                   }});
  cases.push_back({OpFamily::kConversions, kSlowSizes,
                   [](const MeasureOperands& with, int64_t size) -> Call {
                     return [x = with.of_type(RC_DTYPE_F16, {size})] {
                       return numbers(x);
                     };
                   }});
  cases.push_back({OpFamily::kDecoding, kSlowSizes,
                   [](const MeasureOperands& with, int64_t size) -> Call {
                     return [x = with.of_type(RC_DTYPE_Q8_0, {size})] {
                       return numbers(x);
                     };
                   }});
  cases.push_back({OpFamily::kEncoding, kSlowSizes,
                   [](const MeasureOperands& with, int64_t size) -> Call {
                     return [x = with.first_of(with.a, {size})] {
                       return quantize(x, RC_DTYPE_Q8_0);
                     };
                   }});
  cases.push_back({OpFamily::kGathering, kSlowSizes,
                   [](const MeasureOperands& with, int64_t size) -> Call {
                     const int64_t rows = size / 64;
                     return [table = with.first_of(with.a, {rows, 64}),
                             ids = with.counting(rows, rows)] {
                       return gather_rows(table, ids);
                     };
                   }});
  cases.push_back({OpFamily::kTurning,
                   {256, 4096, 32768, 262144, 1048576},
                   [](const MeasureOperands& with, int64_t size) -> Call {
                     const int64_t rows = size / 256;
                     return [x = with.first_of(with.a, {rows, 4, 64}),
                             positions = with.counting(rows, rows),
                             pairs = with.first_of(with.b, {32})] {
                       return rope(x, positions, &pairs, RC_ROPE_HALVES, 0, 1,
                                   1);
                     };
                   }});
  cases.push_back({OpFamily::kNorms, kSlowSizes,
                   [](const MeasureOperands& with, int64_t size) -> Call {
                     return [x = with.first_of(with.a, lines_of(size))] {
                       return layer_norm(x, nullptr, nullptr, 1e-5f, true);
                     };
                   }});
  cases.push_back({OpFamily::kAttention,
                   {4, 16, 64, 256},
                   [](const MeasureOperands& with, int64_t size) -> Call {
                     const Shape shape = {size, 4, 64};
                     return [q = with.first_of(with.a, shape),
                             k = with.first_of(with.b, shape)] {
                       return attention(q, k, k, 0, 0, false);
                     };
                   }});
  return cases;
}

}  // namespace

Tensor MeasureOperands::first_of(const Tensor& tensor,
                                 const Shape& shape) const {
  return reshape(slice(tensor, 0, 0, element_count(shape), 1), shape);
}

Tensor MeasureOperands::of_type(DType dtype, const Shape& shape) const {
  if (dtype == RC_DTYPE_F32) return first_of(b, shape);
  if (outlines) return make_outline(context, dtype, shape);
  // Zero bytes are zeros in each of these types.
  return make_tensor(context, dtype, shape);
}

Tensor MeasureOperands::counting(int64_t count, int64_t end) const {
  if (outlines) return make_outline(context, RC_DTYPE_I32, {count});
  std::vector<int32_t> numbers(count);
  for (int64_t i = 0; i < count; ++i) {
    // Not in order, as rows of a table are asked for.
    numbers[i] = static_cast<int32_t>(i * 7919 % end);
  }
  return from_data(context, RC_DTYPE_I32, {count},
                   std::as_bytes(std::span(numbers)));
}

const std::vector<MeasureCase>& measure_cases() {
  static const std::vector<MeasureCase> kCases = make_cases();
  return kCases;
}

}  // namespace rc::compute
