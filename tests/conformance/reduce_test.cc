#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tensor/wide.h"
#include "tensor_util.h"

namespace rc::test {
namespace {

using compute::element_count;

// Calls function(numbers of a line, first element, distance) for each line
// along a dimension.
template <class Function>
void each_line(const Shape& shape, size_t dimension,
               const std::vector<double>& x, Function function) {
  const int64_t n = shape[dimension];
  int64_t inner = 1;
  for (size_t i = dimension + 1; i < shape.size(); ++i) inner *= shape[i];
  const int64_t lines = n == 0 ? 0 : element_count(shape) / n;
  for (int64_t line = 0; line < lines; ++line) {
    const int64_t first = line / inner * n * inner + line % inner;
    std::vector<double> numbers;
    for (int64_t i = 0; i < n; ++i) numbers.push_back(x[first + i * inner]);
    function(numbers, first, inner);
  }
}

Shape without(Shape shape, size_t dimension, bool keep) {
  if (keep) {
    shape[dimension] = 1;
  } else {
    shape.erase(shape.begin() + static_cast<ptrdiff_t>(dimension));
  }
  return shape.empty() ? Shape{1} : shape;
}

// For every type, shape that has elements, and dimension.
template <class Function>
void each_reduced_case(Function function) {
  for (const DType dtype : number_types()) {
    for (const Case& one : cases(dtype)) {
      if (element_count(one.shape) == 0) continue;
      for (size_t i = 0; i < one.shape.size(); ++i) function(dtype, one, i);
    }
  }
  for (const Shape& shape : {Shape{5000}, Shape{3, 3001}, Shape{997, 3, 300},
                             Shape{40000}, Shape{20011, 3}}) {
    function(RC_DTYPE_F32, Case{shape}, 0);
    function(RC_DTYPE_F32, Case{shape}, shape.size() - 1);
  }
}

TEST(Reduce, SumAndMeanMatchDoubles) {
  each_reduced_case([](DType dtype, const Case& one, size_t dimension) {
    for (const bool mean : {false, true}) {
      TensorTest test("REDUCE",
                      cat(mean ? "mean " : "sum ", dtype_name(dtype)));
      const auto x = test.random(dtype, one.shape, one.layout);
      std::vector<double> expected;
      double squares = 0;
      each_line(one.shape, dimension, x,
                [&](const std::vector<double>& line, int64_t, int64_t) {
                  const double divisor =
                      mean ? static_cast<double>(line.size()) : 1;
                  double sum = 0;
                  for (double number : line) {
                    sum += number;
                    squares += number * number / divisor / divisor;
                  }
                  expected.push_back(sum / divisor);
                });
      test.run(
          [&](rc_tensor* const* t, rc_tensor** y) {
            const auto d = static_cast<int32_t>(dimension);
            return mean ? rc_op_reduce_mean(t[0], d, 1, y)
                        : rc_op_reduce_sum(t[0], d, 0, y);
          },
          without(one.shape, dimension, mean), expected, kF32Tolerance,
          squares);
    }
  });
}

TEST(Reduce, MaxAndItsIndexMatchDoubles) {
  each_reduced_case([](DType dtype, const Case& one, size_t dimension) {
    for (const bool place : {false, true}) {
      TensorTest test(place ? "ARGMAX" : "REDUCE",
                      cat(place ? "" : "max ", dtype_name(dtype)));
      const auto x = test.random(dtype, one.shape, one.layout);
      std::vector<double> expected;
      each_line(one.shape, dimension, x,
                [&](const std::vector<double>& line, int64_t, int64_t) {
                  const auto best = std::max_element(line.begin(), line.end());
                  expected.push_back(
                      place ? static_cast<double>(best - line.begin()) : *best);
                });
      test.run(
          [&](rc_tensor* const* t, rc_tensor** y) {
            const auto d = static_cast<int32_t>(dimension) -
                           static_cast<int32_t>(one.shape.size());
            return place ? rc_op_argmax(t[0], d, 0, y)
                         : rc_op_reduce_max(t[0], d, 1, y);
          },
          without(one.shape, dimension, !place), expected, 0);
    }
  });
}

TEST(Reduce, AllDimensionsMatchDoubles) {
  TensorTest test("REDUCE", "sum F32");
  const auto x = test.random(RC_DTYPE_F32, {7, 3, 11}, Layout::kTransposed);
  double sum = 0;
  double squares = 0;
  for (double number : x) {
    sum += number;
    squares += number * number;
  }
  test.run(
      [](rc_tensor* const* t, rc_tensor** y) {
        return rc_op_reduce_sum(t[0], RC_ALL_DIMENSIONS, 0, y);
      },
      {1}, {sum}, kF32Tolerance, squares);
  test.run(
      [](rc_tensor* const* t, rc_tensor** y) {
        return rc_op_reduce_sum(t[0], RC_ALL_DIMENSIONS, 1, y);
      },
      {1, 1, 1}, {sum}, kF32Tolerance, squares);
}

TEST(Reduce, EmptySumsAreZero) {
  TensorTest sums("REDUCE", "sum F32");
  sums.random(RC_DTYPE_F32, {3, 0, 2});
  sums.run([](rc_tensor* const* t,
              rc_tensor** y) { return rc_op_reduce_sum(t[0], 1, 0, y); },
           {3, 2}, std::vector<double>(6), 0);
  TensorTest places("ARGMAX", "F32");
  places.random(RC_DTYPE_F32, {3, 0, 2});
  places.run([](rc_tensor* const* t,
                rc_tensor** y) { return rc_op_argmax(t[0], 0, 0, y); },
             {0, 2}, {}, 0);
}

TEST(Softmax, EveryTypeAndShapeMatchesDoubles) {
  each_reduced_case([](DType dtype, const Case& one, size_t dimension) {
    TensorTest test("SOFTMAX", dtype_name(dtype));
    const auto x = test.random(dtype, one.shape, one.layout);
    std::vector<double> expected(x.size());
    each_line(
        one.shape, dimension, x,
        [&](const std::vector<double>& line, int64_t first, int64_t distance) {
          const double most = *std::max_element(line.begin(), line.end());
          double total = 0;
          for (double number : line) total += std::exp(number - most);
          for (size_t i = 0; i < line.size(); ++i) {
            expected[first + static_cast<int64_t>(i) * distance] =
                std::exp(line[i] - most) / total;
          }
        });
    test.run(
        [&](rc_tensor* const* t, rc_tensor** y) {
          return rc_op_softmax(t[0], static_cast<int32_t>(dimension), y);
        },
        one.shape, expected, kF32Tolerance);
  });
}

// Wherever the largest is, no exponential is infinite.
TEST(Softmax, DistantNumbersMatchDoubles) {
  for (const DType dtype : {RC_DTYPE_F32, RC_DTYPE_F64}) {
    for (int64_t n : {2, 3, 20}) {
      for (int64_t place = 0; place < n; ++place) {
        TensorTest test("SOFTMAX", dtype_name(dtype));
        Data x;
        x.values.assign(static_cast<size_t>(n), -800.0);
        x.values[static_cast<size_t>(place)] = 800.0;
        x.bytes.resize(*row_bytes(dtype, n));
        encode_row(dtype, x.values.data(), x.bytes.data(), n);
        std::vector<double> expected(static_cast<size_t>(n), 0.0);
        expected[static_cast<size_t>(place)] = 1.0;
        test.given(dtype, {1, n}, x);
        test.run([](rc_tensor* const* t,
                    rc_tensor** y) { return rc_op_softmax(t[0], 1, y); },
                 {1, n}, expected, kF32Tolerance);
      }
    }
  }
}

}  // namespace
}  // namespace rc::test
