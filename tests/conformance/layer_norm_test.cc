#include <gtest/gtest.h>

#include <cmath>

#include "tensor_util.h"

namespace rc::test {
namespace {

using compute::element_count;

void run_layer_norm(DType dtype, const Case& one, bool center, bool weight,
                    bool bias) {
  constexpr float kEpsilon = 1e-3f;
  TensorTest test(center ? "LAYER_NORM" : "LAYER_NORM, rms", dtype_name(dtype));
  const int64_t d = one.shape.back();
  const auto x = test.random(dtype, one.shape, one.layout);
  const auto w = test.random(RC_DTYPE_F32, {d});
  const auto b = test.random(RC_DTYPE_F32, {d});
  std::vector<double> expected;
  for (int64_t v = 0; d > 0 && v < element_count(one.shape) / d; ++v) {
    const double* line = x.data() + v * d;
    double mean = 0;
    for (int64_t i = 0; center && i < d; ++i) {
      mean += line[i] / static_cast<double>(d);
    }
    double squares = 0;
    for (int64_t i = 0; i < d; ++i) {
      squares += (line[i] - mean) * (line[i] - mean);
    }
    const double deviation =
        std::sqrt(squares / static_cast<double>(d) + kEpsilon);
    for (int64_t i = 0; i < d; ++i) {
      expected.push_back((line[i] - mean) / deviation * (weight ? w[i] : 1) +
                         (bias ? b[i] : 0));
    }
  }
  test.run(
      [&](rc_tensor* const* t, rc_tensor** y) {
        rc_tensor* factors = weight ? t[1] : nullptr;
        return center ? rc_op_layer_norm(t[0], factors, bias ? t[2] : nullptr,
                                         kEpsilon, y)
                      : rc_op_rms_norm(t[0], factors, kEpsilon, y);
      },
      one.shape, expected, kF32Tolerance);
}

TEST(LayerNorm, EveryTypeAndShapeMatchesDoubles) {
  int variant = 0;
  for (const DType dtype : number_types()) {
    for (const Case& one : cases(dtype)) {
      ++variant;
      run_layer_norm(dtype, one, true, variant % 2 == 0, variant % 3 == 0);
      run_layer_norm(dtype, one, false, variant % 2 == 1, false);
    }
  }
  run_layer_norm(RC_DTYPE_F32, {{3, 10007}}, true, true, true);
}

}  // namespace
}  // namespace rc::test
