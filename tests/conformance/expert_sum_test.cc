#include <gtest/gtest.h>

#include "conformance_util.h"

namespace rc::test {
namespace {

using runtime::Value;

TEST(ExpertSum, EveryShapeMatchesDoubles) {
  struct Shape {
    int64_t rows, k, n;
  };
  for (const auto& [rows, k, n] :
       {Shape{1, 1, 1}, Shape{3, 2, 7}, Shape{5, 7, 127}, Shape{2, 8, 4096}}) {
    OpTest test("EXPERT_SUM", "", {rows, 0, 0});
    const Data x = random_f32(rows * k * n);
    const Data w = random_f32(rows * k);
    std::vector<double> expected(rows * n);
    for (int64_t i = 0; i < rows * k; ++i) {
      for (int64_t j = 0; j < n; ++j) {
        expected[i / k * n + j] += w.values[i] * x.values[i * n + j];
      }
    }
    const Value xv = test.input(RC_DTYPE_F32, {RC_DIM_ROWS, k, n}, x);
    const Value wv = test.input(RC_DTYPE_F32, {RC_DIM_ROWS, k}, w);
    test.expect(test.builder.expert_sum(xv, wv), expected);
    test.run(kF32Tolerance);
  }
}

}  // namespace
}  // namespace rc::test
