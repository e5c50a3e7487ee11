#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "conformance_util.h"

namespace rc::test {
namespace {

using runtime::ProgramBuilder;
using runtime::Value;

void run_rms_norm(int64_t rows, int64_t heads, int64_t d, float epsilon,
                  double deviation) {
  OpTest test("RMS_NORM", heads == 0 ? "rows" : "heads", {rows, 0, 0});
  const int64_t vectors = rows * std::max<int64_t>(heads, 1);
  const Data x = random_f32(vectors * d, deviation);
  const Data w = random_f32(d);
  std::vector<double> expected;
  for (int64_t v = 0; v < vectors; ++v) {
    double squares = 0;
    for (int64_t i = 0; i < d; ++i) {
      squares += std::pow(x.values[v * d + i], 2);
    }
    const double root = std::sqrt(squares / static_cast<double>(d) + epsilon);
    for (int64_t i = 0; i < d; ++i) {
      expected.push_back(x.values[v * d + i] / root * w.values[i]);
    }
  }
  const ProgramBuilder::Shape shape =
      heads == 0 ? ProgramBuilder::Shape{RC_DIM_ROWS, d}
                 : ProgramBuilder::Shape{RC_DIM_ROWS, heads, d};
  const Value xv = test.input(RC_DTYPE_F32, shape, x);
  const Value wv = test.weight(RC_DTYPE_F32, {d}, RC_USE_ELEMENTS, w);
  test.expect(test.builder.rms_norm(xv, wv, epsilon), expected);
  test.run(kF32Tolerance);
}

TEST(RmsNorm, RowsAndHeadsMatchDoubles) {
  for (int64_t d : {1, 7, 64, 127, 2048}) {
    for (int64_t rows : {1, 5}) {
      run_rms_norm(rows, 0, d, 1e-5f, 1);
      run_rms_norm(rows, 3, d, 1e-6f, 1);
    }
  }
}

TEST(RmsNorm, EpsilonActsOnSmallValues) {
  run_rms_norm(3, 0, 65, 1e-5f, 1e-3);
  run_rms_norm(3, 0, 65, 1, 1);
}

}  // namespace
}  // namespace rc::test
