#include <gtest/gtest.h>

#include "conformance_util.h"

namespace rc::test {
namespace {

using runtime::Value;

TEST(Add, EveryShapeMatchesDoubles) {
  for (const auto& [rows, d] : std::vector<std::pair<int64_t, int64_t>>{
           {1, 1}, {3, 7}, {5, 127}, {2, 4096}}) {
    OpTest test("ADD", "", {rows, 0, 0});
    const Data a = random_f32(rows * d);
    const Data b = random_f32(rows * d);
    std::vector<double> expected;
    for (size_t i = 0; i < a.values.size(); ++i) {
      expected.push_back(a.values[i] + b.values[i]);
    }
    const Value av = test.input(RC_DTYPE_F32, {RC_DIM_ROWS, d}, a);
    const Value bv = test.input(RC_DTYPE_F32, {RC_DIM_ROWS, d}, b);
    test.expect(test.builder.add(av, bv), expected);
    test.run(kF32Tolerance);
  }
}

}  // namespace
}  // namespace rc::test
