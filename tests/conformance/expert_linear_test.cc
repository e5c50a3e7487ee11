#include <gtest/gtest.h>

#include "conformance_util.h"

namespace rc::test {
namespace {

using runtime::ProgramBuilder;
using runtime::Value;

// x is one vector for all the experts of a row, or one for each.
void run_expert_linear(DType dtype, int64_t rows, int64_t experts, int64_t k,
                       int64_t d, int64_t n, bool each, bool biased) {
  OpTest test("EXPERT_LINEAR", dtype_name(dtype), {rows, 0, 0});
  const Data x = random_f32(rows * (each ? k : 1) * d);
  const Data w = random_data(dtype, experts * n, d);
  const Data bias = random_f32(experts * n);
  std::vector<int32_t> ids;
  for (int64_t i = 0; i < rows * k; ++i) {
    ids.push_back(static_cast<int32_t>((i * 7 + i / k) % experts));
  }
  std::vector<double> expected(rows * k * n);
  double squares = 0;
  for (int64_t i = 0; i < rows * k; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      if (biased) expected[i * n + j] = bias.values[ids[i] * n + j];
      for (int64_t l = 0; l < d; ++l) {
        const double term = x.values[(each ? i : i / k) * d + l] *
                            w.values[(ids[i] * n + j) * d + l];
        expected[i * n + j] += term;
        squares += term * term;
      }
    }
  }
  const Value xv = test.input(RC_DTYPE_F32,
                              each ? ProgramBuilder::Shape{RC_DIM_ROWS, k, d}
                                   : ProgramBuilder::Shape{RC_DIM_ROWS, d},
                              x);
  const Value wv = test.weight(dtype, {experts, n, d}, RC_USE_EXPERTS, w);
  const Value iv = test.input(RC_DTYPE_I32, {RC_DIM_ROWS, k}, numbers(ids));
  const Value bv =
      biased ? test.weight(RC_DTYPE_F32, {experts, n}, RC_USE_ELEMENTS, bias)
             : runtime::kAbsent;
  test.expect_sums(test.builder.expert_linear(xv, wv, iv, bv), expected,
                   squares);
  test.run(product_tolerance(dtype));
}

TEST(ExpertLinear, EveryTypeMatchesDoubles) {
  for (DType dtype : decodable_types()) {
    const OnDrivers devices(dtype);
    for (int64_t d : column_counts(dtype)) {
      run_expert_linear(dtype, 3, 5, 2, d, 17, false, true);
      run_expert_linear(dtype, 1, 5, 3, d, 8, true, false);
    }
  }
}

TEST(ExpertLinear, ManyRowsMatchDoubles) {
  run_expert_linear(RC_DTYPE_Q8_0, 67, 8, 2, 64, 48, false, false);
  run_expert_linear(RC_DTYPE_F32, 67, 8, 2, 65, 47, true, true);
}

}  // namespace
}  // namespace rc::test
