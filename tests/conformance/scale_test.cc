#include <gtest/gtest.h>

#include "conformance_util.h"

namespace rc::test {
namespace {

using runtime::Value;

TEST(Scale, EveryShapeMatchesDoubles) {
  for (const auto& [rows, d] : std::vector<std::pair<int64_t, int64_t>>{
           {1, 1}, {3, 7}, {5, 127}, {2, 4096}}) {
    OpTest test("SCALE", "", {rows, 0, 0});
    const Data x = random_f32(rows * d);
    std::vector<double> expected;
    for (double value : x.values) expected.push_back(value * -2.5);
    const Value xv = test.input(RC_DTYPE_F32, {RC_DIM_ROWS, d}, x);
    test.expect(test.builder.scale(xv, -2.5f), expected);
    test.run(kF32Tolerance);
  }
}

}  // namespace
}  // namespace rc::test
