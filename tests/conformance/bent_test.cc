// AFFINE and XIELU: what is done to each element of a row.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "conformance_util.h"

namespace rc::test {
namespace {

using runtime::kAbsent;
using runtime::ProgramBuilder;
using runtime::Value;

void run_affine(int64_t rows, const ProgramBuilder::Shape& vector,
                bool with_weight, bool with_bias) {
  int64_t width = 1;
  for (const int64_t size : vector) width *= size;
  OpTest test(
      "AFFINE",
      std::string(with_weight ? "weight " : "") + (with_bias ? "bias" : ""),
      {rows, 0, 0});
  const Data x = random_f32(rows * width, 3);
  const Data weight = random_f32(width, 2);
  const Data bias = random_f32(width, 2);
  std::vector<double> expected;
  for (int64_t i = 0; i < rows * width; ++i) {
    double y = x.values[i];
    if (with_weight) y *= weight.values[i % width];
    if (with_bias) y += bias.values[i % width];
    expected.push_back(y);
  }
  ProgramBuilder::Shape shape = vector;
  shape.insert(shape.begin(), RC_DIM_ROWS);
  const Value xv = test.input(RC_DTYPE_F32, shape, x);
  const auto added = [&](bool wanted, const Data& data) {
    return wanted ? test.weight(RC_DTYPE_F32, vector, RC_USE_ELEMENTS, data)
                  : kAbsent;
  };
  const Value w = added(with_weight, weight);
  const Value b = added(with_bias, bias);
  test.expect(test.builder.affine(xv, w, b), expected);
  test.run(kF32Tolerance);
}

TEST(Affine, WeightAndBiasAreOptional) {
  for (const bool weight : {false, true}) {
    for (const bool bias : {false, true}) {
      run_affine(3, {7}, weight, bias);
      run_affine(2, {3, 33}, weight, bias);
    }
  }
}

TEST(Affine, EveryShapeMatchesDoubles) {
  run_affine(1, {1}, true, true);
  run_affine(5, {4099}, true, true);
  run_affine(70, {8, 64}, true, false);
}

using XieluParams = decltype(rc_plugin_params::xielu);

void run_xielu(int64_t rows, const ProgramBuilder::Shape& vector,
               const XieluParams& p, double range) {
  int64_t width = 1;
  for (const int64_t size : vector) width *= size;
  OpTest test("XIELU", "", {rows, 0, 0});
  const Data x = random_f32(rows * width, range);
  std::vector<double> expected;
  for (const double value : x.values) {
    const double bent =
        value > 0
            ? double{p.alpha_p} * value * value
            : p.alpha_n *
                  (std::expm1(std::min(value, double{p.epsilon})) - value);
    expected.push_back(bent + p.beta * value);
  }
  ProgramBuilder::Shape shape = vector;
  shape.insert(shape.begin(), RC_DIM_ROWS);
  const Value xv = test.input(RC_DTYPE_F32, shape, x);
  Op op = {.code = RC_OP_XIELU};
  op.params.xielu = p;
  test.expect(test.builder.append(op, {xv})[0], expected);
  test.run(kF32Tolerance);
}

TEST(Xielu, NegativeAndPositiveNumbersMatchDoubles) {
  // Small and large numbers, and those of the paper.
  for (const double range : {1e-3, 1.0, 40.0}) {
    run_xielu(1, {1}, {0.8f, 0.8f, 0.5f, -1e-6f}, range);
    run_xielu(3, {127}, {0.8f, 0.8f, 0.5f, -1e-6f}, range);
    run_xielu(2, {3, 5}, {1.5f, 2.25f, 0.25f, -0.125f}, range);
    run_xielu(2, {4099}, {0.8f, 0.8f, 0.5f, -1e-6f}, range);
  }
}

}  // namespace
}  // namespace rc::test
