#include <gtest/gtest.h>

#include "tensor_util.h"

namespace rc::test {
namespace {

using compute::element_count;

void run_case(bool product, DType type_a, const Case& a, DType type_b,
              const Case& b) {
  TensorTest test("BINARY", cat(product ? "mul " : "add ", dtype_name(type_a),
                                " ", dtype_name(type_b)));
  const std::vector<double> va = test.random(type_a, a.shape, a.layout);
  const std::vector<double> vb = test.random(type_b, b.shape, b.layout);
  const Shape shape = *compute::broadcast(a.shape, b.shape);
  const auto at = [&](const Shape& from, int64_t i) {
    int64_t number = 0;
    int64_t stride = 1;
    for (size_t k = 1; k <= shape.size(); ++k) {
      const int64_t index = i % shape[shape.size() - k];
      i /= shape[shape.size() - k];
      if (k > from.size()) continue;
      if (from[from.size() - k] != 1) number += index * stride;
      stride *= from[from.size() - k];
    }
    return number;
  };
  std::vector<double> expected;
  for (int64_t i = 0; i < element_count(shape); ++i) {
    const double u = va[at(a.shape, i)];
    const double v = vb[at(b.shape, i)];
    expected.push_back(product ? u * v : u + v);
  }
  test.run(
      [&](rc_tensor* const* x, rc_tensor** y) {
        return product ? rc_op_mul(x[0], x[1], y) : rc_op_add(x[0], x[1], y);
      },
      shape, expected, kF32Tolerance);
}

TEST(Binary, EveryTypeAndShape) {
  for (const DType dtype : number_types()) {
    for (const Case& one : cases(dtype)) {
      run_case(false, dtype, one, dtype, {one.shape});
      run_case(true, dtype, {one.shape}, dtype, one);
    }
  }
  run_case(false, RC_DTYPE_F16, {{3, 64}}, RC_DTYPE_Q8_0, {{1, 64}});
}

TEST(Binary, Broadcasting) {
  const Shape pairs[][2] = {
      {{1}, {5}},          {{3, 1}, {5}},          {{4, 1, 3}, {5, 1}},
      {{2, 3, 4, 5}, {1}}, {{2, 3, 4, 5}, {5}},    {{2, 3, 4, 5}, {3, 1, 5}},
      {{2, 1, 4}, {3, 1}}, {{1, 7, 1}, {7, 1, 7}}, {{1000, 1}, {1, 70}},
      {{5, 1}, {5, 0}},    {{0, 1}, {1, 3}},       {{17, 1}, {17, 4099}},
  };
  for (const auto& pair : pairs) {
    run_case(false, RC_DTYPE_F32, {pair[0]}, RC_DTYPE_F32, {pair[1]});
    run_case(true, RC_DTYPE_F32, {pair[1]}, RC_DTYPE_F32, {pair[0]});
  }
  run_case(false, RC_DTYPE_F32, {{4, 6}, Layout::kTransposed}, RC_DTYPE_F32,
           {{4, 1}, Layout::kSteps});
}

}  // namespace
}  // namespace rc::test
