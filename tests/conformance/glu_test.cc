#include <gtest/gtest.h>

#include <cmath>

#include "conformance_util.h"

namespace rc::test {
namespace {

using runtime::ProgramBuilder;
using runtime::Value;

constexpr double kPi = 3.14159265358979323846;

double activation(int kind, double x) {
  switch (kind) {
    case RC_ACTIVATION_SILU:
      return x / (1 + std::exp(-x));
    case RC_ACTIVATION_GELU_TANH:
      return 0.5 * x *
             (1 + std::tanh(std::sqrt(2 / kPi) * (x + 0.044715 * x * x * x)));
    case RC_ACTIVATION_GELU:
      return 0.5 * x * (1 + std::erf(x / std::sqrt(2.0)));
  }
  return std::max(x, 0.0);
}

const char* name(int kind) {
  return kind == RC_ACTIVATION_SILU        ? "silu"
         : kind == RC_ACTIVATION_GELU_TANH ? "gelu, tanh"
         : kind == RC_ACTIVATION_GELU      ? "gelu"
                                           : "relu";
}

void run_case(int kind, int64_t rows, const ProgramBuilder::Shape& rest,
              double deviation) {
  OpTest test("GLU", name(kind), {rows, 0, 0});
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
    expected.push_back(activation(kind, gate.values[i]) * up.values[i]);
  }
  const Value g = test.input(RC_DTYPE_F32, shape, gate);
  const Value u = test.input(RC_DTYPE_F32, shape, up);
  test.expect(test.builder.glu(g, u, kind), expected);
  test.run(kF32Tolerance);
}

TEST(Glu, EveryActivationAndShape) {
  for (int kind = RC_ACTIVATION_SILU; kind <= RC_ACTIVATION_RELU; ++kind) {
    run_case(kind, 1, {1}, 1);
    run_case(kind, 3, {7}, 1);
    run_case(kind, 5, {2, 127}, 1);
    run_case(kind, 2, {4096}, 1);
    // Far out, where exp overflows.
    run_case(kind, 3, {257}, 100);
  }
}

}  // namespace
}  // namespace rc::test
