#include <gtest/gtest.h>

#include <algorithm>

#include "base/error.h"
#include "conformance_util.h"

namespace rc::test {
namespace {

using runtime::ProgramBuilder;
using runtime::Value;

constexpr const char* kNames[] = {"none", "relu", "sigmoid",    "tanh",
                                  "silu", "gelu", "gelu, tanh", "gelu, quick"};

void run_glu(int function, int64_t rows, const ProgramBuilder::Shape& rest,
             double deviation, float limit = 0, float offset = 0) {
  OpTest test("GLU",
              cat(kNames[function], limit > 0 || offset != 0 ? " limited" : ""),
              {rows, 0, 0});
  ProgramBuilder::Shape shape = {RC_DIM_ROWS};
  int64_t count = rows;
  for (int64_t dimension : rest) {
    shape.push_back(dimension);
    count *= dimension;
  }
  const Data gate = random_f32(count, deviation);
  const Data up = random_f32(count);
  std::vector<double> expected;
  for (int64_t i = 0; i < count; ++i) {
    double g = gate.values[i];
    double u = up.values[i];
    if (limit > 0) {
      g = std::min<double>(g, limit);
      u = std::clamp<double>(u, -limit, limit);
    }
    expected.push_back(exact_function(function, g) * (u + offset));
  }
  const Value g = test.input(RC_DTYPE_F32, shape, gate);
  const Value u = test.input(RC_DTYPE_F32, shape, up);
  test.expect(test.builder.glu(g, u, function, limit, offset), expected);
  test.run(kF32Tolerance);
}

TEST(Glu, EveryFunctionAndShapeMatchesDoubles) {
  for (int function = RC_FUNCTION_RELU; function <= RC_FUNCTION_GELU_QUICK;
       ++function) {
    run_glu(function, 1, {1}, 1);
    run_glu(function, 3, {7}, 1);
    run_glu(function, 5, {2, 127}, 1);
    run_glu(function, 2, {4096}, 1);
    // Far out, where exp overflows.
    run_glu(function, 3, {257}, 100);
  }
}

TEST(Glu, LimitAndOffsetMatchDoubles) {
  for (int function = RC_FUNCTION_RELU; function <= RC_FUNCTION_GELU_QUICK;
       ++function) {
    run_glu(function, 3, {2, 127}, 2, 0.75f, 1);
    run_glu(function, 1, {33}, 2, 0.5f, 0);
    run_glu(function, 2, {5}, 2, 0, -0.25f);
  }
}

}  // namespace
}  // namespace rc::test
