#include <gtest/gtest.h>

#include "conformance_util.h"

namespace rc::test {
namespace {

using runtime::kAbsent;
using runtime::Value;

void run_linear(DType dtype, int64_t rows, int64_t k, int64_t n, bool bias,
                bool residual) {
  OpTest test("LINEAR", dtype_name(dtype), {rows, 0, 0});
  const Data x = random_f32(rows * k);
  const Data w = random_data(dtype, n, k);
  const Data b = random_f32(n);
  const Data r = random_f32(rows * n);
  std::vector<double> expected(rows * n);
  double squares = 0;
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      double& y = expected[i * n + j];
      for (int64_t l = 0; l < k; ++l) {
        const double term = x.values[i * k + l] * w.values[j * k + l];
        y += term;
        squares += term * term;
      }
      if (bias) {
        y += b.values[j];
        squares += b.values[j] * b.values[j];
      }
      if (residual) {
        y += r.values[i * n + j];
        squares += r.values[i * n + j] * r.values[i * n + j];
      }
    }
  }
  const Value xv = test.input(RC_DTYPE_F32, {RC_DIM_ROWS, k}, x);
  const Value wv = test.weight(dtype, {n, k}, RC_USE_LINEAR, w);
  const Value bv =
      bias ? test.weight(RC_DTYPE_F32, {n}, RC_USE_ELEMENTS, b) : kAbsent;
  const Value rv =
      residual ? test.input(RC_DTYPE_F32, {RC_DIM_ROWS, n}, r) : kAbsent;
  test.expect_sums(test.builder.linear(xv, wv, bv, rv), expected, squares);
  test.run(product_tolerance(dtype));
}

// A test for each type, so that none takes long where little runs at once.
class LinearOfType : public testing::TestWithParam<DType> {};

TEST_P(LinearOfType, EveryShapeMatchesDoubles) {
  const OnDrivers devices(GetParam());
  int variant = 0;
  for (int64_t k : column_counts(GetParam())) {
    for (int64_t n : {1, 5, 67, 128}) {
      const int64_t rows[] = {1, 3, 17};
      run_linear(GetParam(), rows[variant % 3], k, n, variant % 2 == 1,
                 variant % 4 >= 2);
      ++variant;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Linear, LinearOfType,
                         testing::ValuesIn(decodable_types()), name_of_type);

TEST(Linear, LargeF32MatchesDoubles) {
  run_linear(RC_DTYPE_F32, 67, 512, 515, true, true);
}

TEST(Linear, ManyRowsMatchDoubles) {
  run_linear(RC_DTYPE_Q8_0, 131, 256, 64, false, false);
  run_linear(RC_DTYPE_Q4_K, 131, 256, 64, false, true);
  run_linear(RC_DTYPE_F16, 131, 256, 64, true, false);
}

}  // namespace
}  // namespace rc::test
