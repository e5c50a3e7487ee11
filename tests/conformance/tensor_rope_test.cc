#include <gtest/gtest.h>

#include <cmath>

#include "tensor_util.h"

namespace rc::test {
namespace {

void run_tensor_rope(DType dtype, int64_t batch, int64_t rows, int64_t heads,
                     int64_t d, int32_t style, int32_t dimensions,
                     bool frequencies, Layout layout = Layout::kDense) {
  TensorTest test("ROPE", dtype_name(dtype));
  Shape shape = {rows, heads, d};
  if (batch > 1) shape.insert(shape.begin(), batch);
  const auto x = test.random(dtype, shape, layout);
  std::vector<int32_t> places(rows);
  for (int64_t r = 0; r < rows; ++r) {
    places[r] = static_cast<int32_t>(r * r * 7 + r);
  }
  test.given(RC_DTYPE_I32, {rows}, numbers(places));
  const int64_t turning = dimensions == 0 ? d / 2 * 2 : dimensions;
  const auto given = test.random(RC_DTYPE_F32, {turning / 2});
  constexpr float kTheta = 5000;
  constexpr float kScale = 1.25f;
  std::vector<double> expected = x;
  for (int64_t v = 0; v < batch * rows * heads; ++v) {
    for (int64_t i = 0; i < turning / 2; ++i) {
      // As a backend gets it.
      const double frequency =
          frequencies
              ? given[i]
              : static_cast<float>(std::pow(static_cast<double>(kTheta),
                                            -2.0 * static_cast<double>(i) /
                                                static_cast<double>(turning)));
      const double angle = places[v / heads % rows] * frequency;
      const bool halves = style == RC_ROPE_HALVES;
      const int64_t first = v * d + (halves ? i : 2 * i);
      const int64_t second = halves ? first + turning / 2 : first + 1;
      expected[first] =
          kScale * (x[first] * std::cos(angle) - x[second] * std::sin(angle));
      expected[second] =
          kScale * (x[first] * std::sin(angle) + x[second] * std::cos(angle));
    }
  }
  test.run(
      [&](rc_tensor* const* t, rc_tensor** y) {
        rc_rope_options options = RC_ROPE_OPTIONS_INIT;
        options.style = style;
        options.dimensions = dimensions;
        options.theta = kTheta;
        options.scale = kScale;
        return rc_op_rope(t[0], t[1], frequencies ? t[2] : nullptr, &options,
                          y);
      },
      shape, expected, kF32Tolerance);
}

TEST(Rotate, EveryStyleAndShapeMatchesDoubles) {
  for (const int32_t style : {RC_ROPE_ADJACENT, RC_ROPE_HALVES}) {
    for (const bool frequencies : {false, true}) {
      run_tensor_rope(RC_DTYPE_F32, 1, 1, 1, 2, style, 0, frequencies);
      run_tensor_rope(RC_DTYPE_F32, 1, 5, 3, 7, style, 0, frequencies);
      run_tensor_rope(RC_DTYPE_F32, 3, 17, 4, 64, style, 32, frequencies);
      run_tensor_rope(RC_DTYPE_F32, 1, 6, 4, 8, style, 0, frequencies,
                      Layout::kTransposed);
      run_tensor_rope(RC_DTYPE_F16, 2, 3, 5, 10, style, 6, frequencies,
                      Layout::kSteps);
      run_tensor_rope(RC_DTYPE_Q8_0, 1, 3, 2, 32, style, 0, frequencies);
      run_tensor_rope(RC_DTYPE_F32, 1, 0, 2, 8, style, 0, frequencies);
    }
  }
}

}  // namespace
}  // namespace rc::test
