#include <gtest/gtest.h>

#include "conformance_util.h"

namespace rc::test {
namespace {

void run_join(int64_t rows, int64_t heads, int64_t m, int64_t n) {
  OpTest test("JOIN", "", {rows, 0, 0});
  const Data a = random_f32(rows * heads * m);
  const Data b = random_f32(rows * heads * n);
  std::vector<double> expected;
  for (int64_t i = 0; i < rows * heads; ++i) {
    const auto add = [&](const Data& from, int64_t count) {
      const auto first = from.values.begin() + i * count;
      expected.insert(expected.end(), first, first + count);
    };
    add(a, m);
    add(b, n);
  }
  const auto av = test.input(RC_DTYPE_F32, {RC_DIM_ROWS, heads, m}, a);
  const auto bv = test.input(RC_DTYPE_F32, {RC_DIM_ROWS, heads, n}, b);
  test.expect(test.builder.join(av, bv), expected);
  test.run(kReferenceTolerance);
}

TEST(Join, JoinsRowsInOrder) {
  run_join(1, 1, 1, 1);
  run_join(3, 4, 512, 64);
  run_join(7, 5, 3, 13);
  run_join(2, 1, 31, 2);
}

TEST(Clamp, LimitsNumbersOnBothSides) {
  for (const int64_t width : {1, 7, 300}) {
    OpTest test("CLAMP", "", {5, 0, 0});
    const Data x = random_f32(5 * width, 2);
    std::vector<double> expected;
    for (const double value : x.values) {
      expected.push_back(value > 1.5 ? 1.5 : value < -1.5 ? -1.5 : value);
    }
    const auto xv = test.input(RC_DTYPE_F32, {RC_DIM_ROWS, width}, x);
    test.expect(test.builder.clamp(xv, 1.5f), expected);
    test.run(kReferenceTolerance);
  }
}

}  // namespace
}  // namespace rc::test
