#include <gtest/gtest.h>

#include <cmath>

#include "conformance_util.h"

namespace rc::test {
namespace {

using runtime::Value;

void run_rope(int64_t rows, int64_t heads, int64_t d, int64_t pairs, int style,
              float scale, int32_t first_position) {
  OpTest test("ROPE", style == RC_ROPE_HALVES ? "halves" : "adjacent",
              {rows, 0, 0});
  const Data x = random_f32(rows * heads * d);
  Data frequencies = random_f32(pairs);
  for (int64_t i = 0; i < pairs; ++i) {
    const auto frequency = static_cast<float>(std::pow(
        10000.0, -static_cast<double>(i) / static_cast<double>(pairs)));
    frequencies.values[i] = frequency;
    reinterpret_cast<float*>(frequencies.bytes.data())[i] = frequency;
  }
  std::vector<int32_t> positions;
  for (int64_t r = 0; r < rows; ++r) {
    positions.push_back(first_position + static_cast<int32_t>(r));
  }
  std::vector<double> expected = x.values;
  for (int64_t v = 0; v < rows * heads; ++v) {
    for (int64_t i = 0; i < pairs; ++i) {
      const int64_t a = v * d + (style == RC_ROPE_HALVES ? i : 2 * i);
      const int64_t b = style == RC_ROPE_HALVES ? a + pairs : a + 1;
      const double angle = positions[v / heads] * frequencies.values[i];
      expected[a] = scale * (x.values[a] * std::cos(angle) -
                             x.values[b] * std::sin(angle));
      expected[b] = scale * (x.values[a] * std::sin(angle) +
                             x.values[b] * std::cos(angle));
    }
  }
  const Value xv = test.input(RC_DTYPE_F32, {RC_DIM_ROWS, heads, d}, x);
  const Value p = test.input(RC_DTYPE_I32, {RC_DIM_ROWS}, numbers(positions));
  const Value f =
      test.weight(RC_DTYPE_F32, {pairs}, RC_USE_ELEMENTS, frequencies);
  test.expect(test.builder.rope(xv, p, f, style, scale), expected);
  // An angle that is rounded to f32 is off by 2^-24 of itself: at position
  // 32000 by 1e-3, which is why devices have to reduce it with care.
  test.run(first_position > 1000 ? 1e-6 : kF32Tolerance);
}

TEST(Rope, BothStylesMatchDoubles) {
  for (int style : {RC_ROPE_ADJACENT, RC_ROPE_HALVES}) {
    run_rope(1, 1, 2, 1, style, 1, 0);
    run_rope(5, 3, 10, 5, style, 1, 0);
    run_rope(17, 4, 64, 32, style, 1, 100);
    run_rope(3, 2, 128, 64, style, 1, 31000);
  }
}

TEST(Rope, ElementsBeyondThePairsAreUnchanged) {
  for (int style : {RC_ROPE_ADJACENT, RC_ROPE_HALVES}) {
    run_rope(3, 2, 64, 16, style, 1, 7);
    run_rope(3, 2, 7, 3, style, 1.1f, 7);
  }
}

}  // namespace
}  // namespace rc::test
