#include <gtest/gtest.h>

#include "tensor_util.h"

namespace rc::test {
namespace {

using compute::element_count;

struct Product {
  DType a_type = RC_DTYPE_F32, b_type = RC_DTYPE_F32;
  Shape a_batch, b_batch;
  int64_t m = 1, n = 1, k = 1;
  bool transposed = false;
  Layout a_layout = Layout::kDense, b_layout = Layout::kDense;
};

void run_matmul(const Product& p) {
  TensorTest test(p.transposed ? "MATMUL, b^T" : "MATMUL",
                  cat(dtype_name(p.a_type), " ", dtype_name(p.b_type)));
  Shape a_shape = p.a_batch, b_shape = p.b_batch;
  a_shape.insert(a_shape.end(), {p.m, p.k});
  b_shape.insert(b_shape.end(),
                 {p.transposed ? p.n : p.k, p.transposed ? p.k : p.n});
  const auto a = test.random(p.a_type, a_shape, p.a_layout);
  const auto b = test.random(p.b_type, b_shape, p.b_layout);
  Shape shape = *compute::broadcast(p.a_batch, p.b_batch);
  const int64_t batch = element_count(shape);
  shape.insert(shape.end(), {p.m, p.n});
  // The tests broadcast from one matrix, or between neighbours of rank 2.
  const int64_t count_a = element_count(p.a_batch);
  const int64_t count_b = element_count(p.b_batch);
  std::vector<double> expected;
  double squares = 0;
  for (int64_t i = 0; i < batch * p.m * p.n; ++i) {
    const int64_t column = i % p.n;
    const int64_t row = i / p.n % p.m;
    const int64_t at = i / p.n / p.m;
    const bool crossed =
        count_a > 1 && count_b > 1 && count_a * count_b == batch;
    const int64_t at_a = crossed ? at / count_b : at % count_a;
    const int64_t at_b = at % count_b;
    double sum = 0;
    for (int64_t l = 0; l < p.k; ++l) {
      const double term =
          a[(at_a * p.m + row) * p.k + l] *
          b[at_b * p.k * p.n +
            (p.transposed ? column * p.k + l : l * p.n + column)];
      sum += term;
      squares += term * term;
    }
    expected.push_back(sum);
  }
  const bool quantized = dtype_info(p.b_type)->block_size > 1;
  test.run(
      [&](rc_tensor* const* x, rc_tensor** y) {
        return quantized && p.transposed ? rc_op_matmul_quantized(x[0], x[1], y)
               : p.transposed ? rc_op_matmul_transposed(x[0], x[1], y)
                              : rc_op_matmul(x[0], x[1], y);
      },
      shape, expected,
      p.transposed ? product_tolerance(p.b_type) : kF32Tolerance, squares);
}

TEST(Matmul, EveryShapeMatchesDoubles) {
  const int64_t sizes[][3] = {{1, 1, 1},    {3, 5, 7},    {1, 17, 33},
                              {13, 1, 127}, {31, 67, 1},  {129, 16, 20},
                              {64, 64, 64}, {2, 300, 40}, {200, 3, 50}};
  for (const auto& size : sizes) {
    for (const bool transposed : {false, true}) {
      Product p;
      p.m = size[0];
      p.n = size[1];
      p.k = size[2];
      p.transposed = transposed;
      run_matmul(p);
      p.a_layout = Layout::kTransposed;
      p.b_layout = Layout::kSteps;
      run_matmul(p);
      p.b_layout = Layout::kTransposed;
      p.a_layout = Layout::kSteps;
      run_matmul(p);
    }
  }
}

TEST(Matmul, LargeProductsMatchDoubles) {
  Product p;
  p.m = 131;
  p.n = 257;
  p.k = 300;
  run_matmul(p);
  p.transposed = true;
  run_matmul(p);
  p.a_batch = p.b_batch = {3};
  run_matmul(p);
  for (const bool transposed : {false, true}) {
    Product deep;
    deep.m = 19;
    deep.n = 50;
    deep.k = 1100;
    deep.transposed = transposed;
    run_matmul(deep);
    deep.a_layout = Layout::kTransposed;
    run_matmul(deep);
    deep.m = 250;
    run_matmul(deep);
  }
}

TEST(Matmul, BatchesMatchDoubles) {
  const Shape pairs[][2] = {{{3}, {3}},       {{3}, {}},     {{3}, {1}},
                            {{}, {3}},        {{2, 3}, {3}}, {{2, 3}, {2, 3}},
                            {{2, 1}, {1, 3}}, {{0}, {1}}};
  for (const auto& pair : pairs) {
    for (const bool transposed : {false, true}) {
      Product p;
      p.a_batch = pair[0];
      p.b_batch = pair[1];
      p.m = 3;
      p.n = 18;
      p.k = 5;
      p.transposed = transposed;
      run_matmul(p);
      p.a_layout = Layout::kTransposed;
      run_matmul(p);
    }
  }
}

TEST(Matmul, EmptyProductsAreZero) {
  for (int i = 0; i < 3; ++i) {
    Product p;
    p.m = i == 0 ? 0 : 2;
    p.n = i == 1 ? 0 : 3;
    p.k = i == 2 ? 0 : 4;
    run_matmul(p);
    p.transposed = true;
    run_matmul(p);
  }
}

// A test for each type, so that none takes long where little runs at once.
class MatmulOfType : public testing::TestWithParam<DType> {};

TEST_P(MatmulOfType, EveryShapeMatchesDoubles) {
  const OnDrivers devices(GetParam());
  int64_t m = 1;
  for (const int64_t k : column_counts(GetParam())) {
    Product p;
    p.b_type = GetParam();
    p.transposed = true;
    p.k = k;
    p.n = 35;
    p.m = m;
    run_matmul(p);
    p.b_layout = Layout::kSteps;
    run_matmul(p);
    m = m * 4 + 1;
  }
}

INSTANTIATE_TEST_SUITE_P(Matmul, MatmulOfType,
                         testing::ValuesIn(decodable_types()), name_of_type);

TEST(Matmul, BatchesOfBlocksMatchDoubles) {
  Product p;
  p.b_type = RC_DTYPE_Q4_K;
  p.transposed = true;
  p.a_batch = {2};
  p.b_batch = {2};
  p.m = 130;
  p.n = 20;
  p.k = 256;
  run_matmul(p);
}

TEST(Matmul, EveryTypeOnBothSidesMatchesDoubles) {
  for (const DType dtype : number_types()) {
    const int64_t block = dtype_info(dtype)->block_size;
    Product p;
    p.a_type = p.b_type = dtype;
    p.m = 5;
    p.k = 3 * block;
    p.n = 2 * block;
    run_matmul(p);
  }
}

void run_fused_linear(DType dtype, int64_t m, int64_t n, int64_t k, bool bias,
                      rc_function function) {
  TensorTest test("MATMUL, fused", cat(dtype_name(dtype), " ", function));
  const auto x = test.random(RC_DTYPE_F32, {m, k});
  const auto w = test.random(dtype, {n, k});
  const auto b = test.random(RC_DTYPE_F32, {n});
  std::vector<double> expected;
  double squares = 0;
  for (int64_t i = 0; i < m * n; ++i) {
    double sum = bias ? b[i % n] : 0;
    squares += sum * sum;
    for (int64_t l = 0; l < k; ++l) {
      const double term = x[i / n * k + l] * w[i % n * k + l];
      sum += term;
      squares += term * term;
    }
    expected.push_back(exact_function(function, sum));
  }
  test.run(
      [&](rc_tensor* const* t, rc_tensor** y) {
        return rc_op_fused_linear(t[0], t[1], bias ? t[2] : nullptr, function,
                                  y);
      },
      {m, n}, expected, product_tolerance(dtype), squares);
}

TEST(FusedLinear, EveryFunctionMatchesDoubles) {
  for (rc_function f = RC_FUNCTION_NONE; f <= RC_FUNCTION_GELU_QUICK; ++f) {
    run_fused_linear(RC_DTYPE_F32, 5, 37, 19, f % 2 == 0, f);
    run_fused_linear(RC_DTYPE_Q8_0, 3, 17, 64, f % 2 == 1, f);
  }
  run_fused_linear(RC_DTYPE_F32, 130, 140, 150, true, RC_FUNCTION_SILU);
  run_fused_linear(RC_DTYPE_F32, 2, 3, 0, true, RC_FUNCTION_TANH);
  run_fused_linear(RC_DTYPE_F16, 0, 3, 4, true, RC_FUNCTION_TANH);
}

}  // namespace
}  // namespace rc::test
