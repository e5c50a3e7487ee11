#include <gtest/gtest.h>

#include <cmath>

#include "conformance_util.h"

namespace rc::test {
namespace {

using runtime::ProgramBuilder;
using runtime::Value;

constexpr double kPi = 3.14159265358979323846;

double function_of(int function, double x) {
  switch (function) {
    case RC_FUNCTION_RELU:
      return std::max(x, 0.0);
    case RC_FUNCTION_SIGMOID:
      return 1 / (1 + std::exp(-x));
    case RC_FUNCTION_TANH:
      return std::tanh(x);
    case RC_FUNCTION_SILU:
      return x / (1 + std::exp(-x));
    case RC_FUNCTION_GELU:
      return 0.5 * x * (1 + std::erf(x / std::sqrt(2.0)));
  }
  return 0.5 * x *
         (1 + std::tanh(std::sqrt(2 / kPi) * (x + 0.044715 * x * x * x)));
}

constexpr const char* kNames[] = {"none", "relu", "sigmoid",   "tanh",
                                  "silu", "gelu", "gelu, tanh"};

void run_case(int function, int64_t rows, const ProgramBuilder::Shape& rest,
              double deviation) {
  OpTest test("GLU", kNames[function], {rows, 0, 0});
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
    expected.push_back(function_of(function, gate.values[i]) * up.values[i]);
  }
  const Value g = test.input(RC_DTYPE_F32, shape, gate);
  const Value u = test.input(RC_DTYPE_F32, shape, up);
  test.expect(test.builder.glu(g, u, function), expected);
  test.run(kF32Tolerance);
}

TEST(Glu, EveryFunctionAndShape) {
  for (int function = RC_FUNCTION_RELU; function <= RC_FUNCTION_GELU_TANH;
       ++function) {
    run_case(function, 1, {1}, 1);
    run_case(function, 3, {7}, 1);
    run_case(function, 5, {2, 127}, 1);
    run_case(function, 2, {4096}, 1);
    // Far out, where exp overflows.
    run_case(function, 3, {257}, 100);
  }
}

}  // namespace
}  // namespace rc::test
