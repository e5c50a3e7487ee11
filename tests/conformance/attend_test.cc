#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tensor_util.h"

namespace rc::test {
namespace {

struct Attention {
  int64_t batch = 1, rows = 1, positions = 1, heads = 1, kv_heads = 1, d = 1;
  bool causal = false;
  float scale = 0, softcap = 0;
  DType dtype = RC_DTYPE_F32;
  Layout layout = Layout::kDense;
};

void run_attend(const Attention& a) {
  TensorTest test("ATTEND", dtype_name(a.dtype));
  Shape q_shape = {a.rows, a.heads, a.d};
  Shape k_shape = {a.positions, a.kv_heads, a.d};
  if (a.batch > 1) {
    q_shape.insert(q_shape.begin(), a.batch);
    k_shape.insert(k_shape.begin(), a.batch);
  }
  const auto q = test.random(a.dtype, q_shape, a.layout);
  const auto k = test.random(a.dtype, k_shape, a.layout);
  const auto v = test.random(a.dtype, k_shape);
  const double scale =
      a.scale == 0 ? 1 / std::sqrt(static_cast<double>(a.d)) : a.scale;
  std::vector<double> expected(q.size());
  for (int64_t n = 0; n < a.batch * a.rows * a.heads; ++n) {
    const int64_t h = n % a.heads / (a.heads / a.kv_heads);
    const int64_t r = n / a.heads % a.rows;
    const int64_t b = n / a.heads / a.rows;
    const int64_t seen = a.causal ? a.positions - a.rows + r + 1 : a.positions;
    std::vector<double> scores;
    for (int64_t p = 0; p < seen; ++p) {
      double score = 0;
      for (int64_t i = 0; i < a.d; ++i) {
        score += q[n * a.d + i] *
                 k[((b * a.positions + p) * a.kv_heads + h) * a.d + i];
      }
      score *= scale;
      if (a.softcap > 0) score = a.softcap * std::tanh(score / a.softcap);
      scores.push_back(score);
    }
    const double most = *std::max_element(scores.begin(), scores.end());
    double total = 0;
    for (double& score : scores) total += score = std::exp(score - most);
    for (int64_t p = 0; p < seen; ++p) {
      for (int64_t i = 0; i < a.d; ++i) {
        expected[n * a.d + i] +=
            scores[p] / total *
            v[((b * a.positions + p) * a.kv_heads + h) * a.d + i];
      }
    }
  }
  test.run(
      [&](rc_tensor* const* t, rc_tensor** y) {
        rc_attention_options options = RC_ATTENTION_OPTIONS_INIT;
        options.causal = a.causal ? 1 : 0;
        options.scale = a.scale;
        options.softcap = a.softcap;
        return rc_op_attention(t[0], t[1], t[2], &options, y);
      },
      q_shape, expected, kF32Tolerance);
}

TEST(Attend, EveryShapeMatchesDoubles) {
  run_attend({});
  for (const bool causal : {false, true}) {
    run_attend({1, 3, 5, 2, 1, 7, causal});
    run_attend({2, 5, 5, 6, 2, 32, causal});
    run_attend({3, 1, 131, 4, 4, 64, causal});
    run_attend({1, 70, 200, 3, 3, 16, causal});
    run_attend({2, 7, 9, 8, 1, 13, causal, 0.3f, 2.0f});
    run_attend(
        {1, 4, 6, 4, 2, 8, causal, 0, 0, RC_DTYPE_F32, Layout::kTransposed});
    run_attend({1, 4, 6, 4, 2, 8, causal, 0, 0, RC_DTYPE_F16, Layout::kSteps});
    run_attend({1, 4, 6, 4, 2, 32, causal, 0, 0, RC_DTYPE_Q8_0});
  }
  run_attend({2, 0, 4, 2, 2, 8});
  // Heads of which devices have room for some, or for none.
  run_attend({1, 2, 40, 2, 1, 360, true});
  run_attend({1, 1, 9, 1, 1, 1500});
}

}  // namespace
}  // namespace rc::test
