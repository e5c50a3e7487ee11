#include <gtest/gtest.h>

#include <cmath>

#include "conformance_util.h"

namespace rc::test {
namespace {

using runtime::Value;

TEST(Softcap, EveryShapeMatchesDoubles) {
  for (const auto& [rows, d] : std::vector<std::pair<int64_t, int64_t>>{
           {1, 1}, {3, 7}, {5, 127}, {2, 4096}}) {
    OpTest test("SOFTCAP", "", {rows, 0, 0});
    const Data x = random_f32(rows * d, 40);
    std::vector<double> expected;
    for (double value : x.values) {
      expected.push_back(30 * std::tanh(value / 30));
    }
    const Value xv = test.input(RC_DTYPE_F32, {RC_DIM_ROWS, d}, x);
    test.expect(test.builder.softcap(xv, 30), expected);
    test.run(kF32Tolerance);
  }
}

}  // namespace
}  // namespace rc::test
