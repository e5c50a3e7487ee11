// CONCAT, PAD, CUMSUM, ORDER and TAKE.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "tensor_util.h"

namespace rc::test {
namespace {

using compute::element_count;

struct Lines {
  Lines(const Shape& shape, size_t dimension) : n(shape[dimension]) {
    for (size_t i = 0; i < dimension; ++i) outer *= shape[i];
    for (size_t i = dimension + 1; i < shape.size(); ++i) inner *= shape[i];
  }
  int64_t outer = 1, n, inner = 1;
};

template <class Function>
void each_ordered_case(Function function) {
  for (const DType dtype : number_types()) {
    for (const Case& one : cases(dtype)) {
      for (size_t i = 0; i < one.shape.size(); ++i) function(dtype, one, i);
    }
  }
  for (const Shape& shape :
       {Shape{20000}, Shape{3, 3001}, Shape{97, 3, 300}, Shape{5000, 3}}) {
    function(RC_DTYPE_F32, Case{shape}, 0);
    function(RC_DTYPE_F32, Case{shape}, shape.size() - 1);
  }
}

// Places of the elements of each line in order, the first k of each.
std::vector<double> ordered(const std::vector<double>& x, const Lines& lines,
                            bool falling, int64_t k, bool places) {
  std::vector<double> found(static_cast<size_t>(lines.outer * k * lines.inner));
  const auto smaller = [](double a, double b) {
    return a < b || (!std::isnan(a) && std::isnan(b));
  };
  for (int64_t outer = 0; outer < lines.outer; ++outer) {
    for (int64_t inner = 0; inner < lines.inner; ++inner) {
      const auto at = [&](int64_t i) {
        return x[(outer * lines.n + i) * lines.inner + inner];
      };
      std::vector<int64_t> order(static_cast<size_t>(lines.n));
      std::iota(order.begin(), order.end(), 0);
      std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
        return falling ? smaller(at(b), at(a)) : smaller(at(a), at(b));
      });
      for (int64_t i = 0; i < k; ++i) {
        const int64_t place = order[static_cast<size_t>(i)];
        found[(outer * k + i) * lines.inner + inner] =
            places ? static_cast<double>(place) : at(place);
      }
    }
  }
  return found;
}

TEST(Ordering, SortsNumbersAndIndices) {
  each_ordered_case([](DType dtype, const Case& one, size_t dimension) {
    for (const bool falling : {false, true}) {
      for (const bool places : {false, true}) {
        TensorTest test(
            places ? "ORDER" : "TAKE",
            cat(falling ? "falling " : "rising ", dtype_name(dtype)));
        const auto x = test.random(dtype, one.shape, one.layout);
        const Lines lines(one.shape, dimension);
        test.run(
            [&](rc_tensor* const* t, rc_tensor** y) {
              const auto d = static_cast<int32_t>(dimension) -
                             static_cast<int32_t>(one.shape.size());
              return places ? rc_op_argsort(t[0], d, falling, y)
                            : rc_op_sort(t[0], d, falling, y);
            },
            one.shape, ordered(x, lines, falling, lines.n, places), 0);
      }
    }
  });
}

TEST(Ordering, FindsTheLargestNumbersAndIndices) {
  each_ordered_case([](DType dtype, const Case& one, size_t dimension) {
    for (const bool places : {false, true}) {
      TensorTest test(places ? "ORDER" : "TAKE",
                      cat("the largest ", dtype_name(dtype)));
      const auto x = test.random(dtype, one.shape, one.layout);
      const Lines lines(one.shape, dimension);
      const int64_t k = (lines.n + 2) / 3;
      Shape shape = one.shape;
      shape[dimension] = k;
      test.run(
          [&](rc_tensor* const* t, rc_tensor** y) {
            const auto d = static_cast<int32_t>(dimension);
            return places ? rc_op_argtopk(t[0], k, d, y)
                          : rc_op_topk(t[0], k, d, y);
          },
          shape, ordered(x, lines, true, k, places), 0);
    }
  });
}

// Equals stay in order, whatever their signs and payloads; NaN is the largest.
TEST(Ordering, TiesKeepTheirOrderAndNanIsTheLargest) {
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  constexpr float kLeast = std::numeric_limits<float>::denorm_min();
  const std::vector<float> given = {0.0f,  -0.0f,      kNan,   -1,
                                    0.0f,  -kNan,      -1,     kInfinity,
                                    -0.0f, -kInfinity, kLeast, -kLeast};
  const auto count = static_cast<int64_t>(given.size());
  for (const bool falling : {false, true}) {
    TensorTest test("ORDER", "equals");
    const auto x = test.given(RC_DTYPE_F32, {count}, floats(given));
    const std::vector<double> expected =
        falling ? std::vector<double>{2, 5, 7, 10, 0, 1, 4, 8, 11, 3, 6, 9}
                : std::vector<double>{9, 3, 6, 11, 0, 1, 4, 8, 10, 7, 2, 5};
    test.run([&](rc_tensor* const* t,
                 rc_tensor** y) { return rc_op_argsort(t[0], 0, falling, y); },
             {count}, expected, 0);
  }
}

TEST(Ordering, TakesElementsAlongADimension) {
  for (const DType dtype : number_types()) {
    for (const size_t dimension : {0, 1}) {
      TensorTest test("TAKE", dtype_name(dtype));
      const int64_t columns = dtype_info(dtype)->block_size > 1 ? 256 : 7;
      const auto x = test.random(dtype, {5, columns});
      const Shape shape = dimension == 0 ? Shape{2, columns} : Shape{5, 3};
      std::vector<int32_t> places;
      std::vector<double> expected;
      for (int64_t i = 0; i < element_count(shape); ++i) {
        const int64_t place = i * 5 % (dimension == 0 ? 5 : columns);
        places.push_back(static_cast<int32_t>(place));
        expected.push_back(dimension == 0 ? x[place * columns + i % columns]
                                          : x[i / 3 * columns + place]);
      }
      test.given(RC_DTYPE_I32, shape, numbers(places));
      test.run(
          [&](rc_tensor* const* t, rc_tensor** y) {
            return rc_op_take_along(t[0], t[1], static_cast<int32_t>(dimension),
                                    y);
          },
          shape, expected, 0);
    }
  }
}

TEST(Ordering, CumulativeSumsMatchDoubles) {
  each_ordered_case([](DType dtype, const Case& one, size_t dimension) {
    TensorTest test("CUMSUM", dtype_name(dtype));
    auto sums = test.random(dtype, one.shape, one.layout);
    const Lines lines(one.shape, dimension);
    double squares = 0;
    for (int64_t i = 0; i < element_count(one.shape); ++i) {
      squares += sums[i] * sums[i] * static_cast<double>(lines.n);
      if (i / lines.inner % lines.n > 0) sums[i] += sums[i - lines.inner];
    }
    test.run(
        [&](rc_tensor* const* t, rc_tensor** y) {
          return rc_op_cumsum(t[0], static_cast<int32_t>(dimension), y);
        },
        one.shape, sums, kF32Tolerance, squares);
  });
}

TEST(Joining, PadsEachDimension) {
  each_ordered_case([](DType dtype, const Case& one, size_t dimension) {
    TensorTest test("PAD", dtype_name(dtype));
    const auto x = test.random(dtype, one.shape, one.layout);
    const Lines lines(one.shape, dimension);
    Shape shape = one.shape;
    shape[dimension] += 5;
    std::vector<double> expected(static_cast<size_t>(element_count(shape)),
                                 -1.5);
    for (int64_t i = 0; i < static_cast<int64_t>(x.size()); ++i) {
      const int64_t line = i / lines.inner;
      expected[((line / lines.n * (lines.n + 5)) + line % lines.n + 2) *
                   lines.inner +
               i % lines.inner] = x[i];
    }
    test.run(
        [&](rc_tensor* const* t, rc_tensor** y) {
          return rc_op_pad(t[0], static_cast<int32_t>(dimension), 2, 3, -1.5f,
                           y);
        },
        shape, expected, 0);
  });
}

// As many as an op takes, and more, some of them empty, of every type.
TEST(Joining, ConcatenatesAnyNumberOfTensors) {
  for (const DType dtype : decodable_types()) {
    const int64_t block = dtype_info(dtype)->block_size;
    for (const size_t dimension : {0, 1, 2}) {
      for (const size_t count : {1, 2, 8, 9, 20}) {
        TensorTest test("CONCAT", dtype_name(dtype));
        std::vector<std::vector<double>> parts;
        std::vector<int64_t> sizes;
        Shape shape = {2, 3, block};
        shape[dimension] = 0;
        for (size_t i = 0; i < count; ++i) {
          Shape part = {2, 3, block};
          part[dimension] = static_cast<int64_t>((i + 1) % 3);
          if (dimension == 2) part[dimension] *= block;
          sizes.push_back(part[dimension]);
          shape[dimension] += part[dimension];
          // The layout of the first, so that views are joined, too.
          parts.push_back(test.random(
              dtype, part, i == 0 ? Layout::kSteps : Layout::kDense));
        }
        const Lines lines(shape, dimension);
        std::vector<double> expected;
        for (int64_t outer = 0; outer < lines.outer; ++outer) {
          for (size_t i = 0; i < count; ++i) {
            const int64_t row = sizes[i] * lines.inner;
            const auto begin = parts[i].begin() + outer * row;
            expected.insert(expected.end(), begin, begin + row);
          }
        }
        test.run(
            [&](rc_tensor* const* t, rc_tensor** y) {
              return rc_op_concat(t, count, static_cast<int32_t>(dimension), y);
            },
            shape, expected, 0);
      }
    }
  }
}

}  // namespace
}  // namespace rc::test
