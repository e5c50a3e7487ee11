#include <gtest/gtest.h>

#include <cmath>

#include "conformance_util.h"

namespace rc::test {
namespace {

using runtime::Value;

void run_group_norm(int64_t rows, int64_t groups, int64_t d, float epsilon,
                    double deviation) {
  OpTest test("GROUP_NORM", "", {rows, 0, 0});
  const Data x = random_f32(rows * groups * d, deviation);
  const Data w = random_f32(groups * d);
  std::vector<double> expected;
  for (int64_t v = 0; v < rows * groups; ++v) {
    double squares = 0;
    for (int64_t i = 0; i < d; ++i) {
      squares += std::pow(x.values[v * d + i], 2);
    }
    const double root = std::sqrt(squares / static_cast<double>(d) + epsilon);
    for (int64_t i = 0; i < d; ++i) {
      expected.push_back(x.values[v * d + i] / root *
                         w.values[v % groups * d + i]);
    }
  }
  const Value xv = test.input(RC_DTYPE_F32, {RC_DIM_ROWS, groups, d}, x);
  const Value wv = test.weight(RC_DTYPE_F32, {groups, d}, RC_USE_ELEMENTS, w);
  test.expect(test.builder.group_norm(xv, wv, epsilon), expected);
  test.run(kF32Tolerance);
}

TEST(GroupNorm, RowsAndGroupsMatchDoubles) {
  for (int64_t d : {1, 7, 64, 127, 2048}) {
    for (int64_t rows : {1, 5}) {
      run_group_norm(rows, 1, d, 1e-5f, 1);
      run_group_norm(rows, 3, d, 1e-6f, 1);
    }
  }
  run_group_norm(3, 8, 65, 1e-5f, 1e-3);
}

}  // namespace
}  // namespace rc::test
