// The ops without weights to multiply with, against plain loops in double.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

#include "backends/cpu_util.h"
#include "cpu/plugin.h"
#include "tensor/dtype.h"

namespace rc::cpu_test {
namespace {

class CpuOps : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Levels, CpuOps, testing::ValuesIn(level_names()),
                         [](const auto& level) { return level.param; });

// Lengths around the 16 lanes and beyond the pieces that rows are cut into.
constexpr int64_t kLengths[] = {1, 15, 16, 17, 100, 4096, 5000};

void expect_near(const std::vector<float>& actual,
                 const std::vector<double>& expected, double relative,
                 double absolute) {
  for (size_t i = 0; i < expected.size(); ++i) {
    ASSERT_NEAR(actual[i], expected[i],
                absolute + relative * std::fabs(expected[i]))
        << "element " << i;
  }
}

TEST_P(CpuOps, ElementwiseOpsMatchDoubles) {
  struct Case {
    int32_t code;
    int32_t function;
    double (*expected)(double a, double b);
  };
  const Case cases[] = {
      {RC_OP_ADD, 0, [](double a, double b) { return a + b; }},
      {RC_OP_SCALE, 0, [](double a, double) { return 0.3f * a; }},
      {RC_OP_SOFTCAP, 0,
       [](double a, double) { return 3.5 * std::tanh(a / 3.5); }},
      {RC_OP_GLU, RC_FUNCTION_SILU,
       [](double a, double b) { return a / (1 + std::exp(-a)) * b; }},
      {RC_OP_GLU, RC_FUNCTION_GELU_TANH,
       [](double a, double b) {
         return 0.5 * a *
                (1 +
                 std::tanh(std::sqrt(2 / M_PI) * (a + 0.044715 * a * a * a))) *
                b;
       }},
      {RC_OP_GLU, RC_FUNCTION_GELU,
       [](double a, double b) {
         return 0.5 * a * (1 + std::erf(a / std::sqrt(2.0))) * b;
       }},
      {RC_OP_GLU, RC_FUNCTION_GELU_QUICK,
       [](double a, double b) { return a / (1 + std::exp(-1.702 * a)) * b; }},
      {RC_OP_GLU, RC_FUNCTION_RELU,
       [](double a, double b) { return std::max(a, 0.0) * b; }},
      {RC_OP_GLU, RC_FUNCTION_SIGMOID,
       [](double a, double b) { return b / (1 + std::exp(-a)); }},
      {RC_OP_GLU, RC_FUNCTION_TANH,
       [](double a, double b) { return std::tanh(a) * b; }},
  };
  const Device device(3, GetParam());
  for (const Case& c : cases) {
    for (int64_t n : kLengths) {
      SCOPED_TRACE(testing::Message() << c.code << " " << n);
      constexpr int64_t rows = 5;
      auto a = random_floats(rows * n, 1, 6);
      const auto b = random_floats(rows * n, 2);
      a[0] = -200;  // where the powers of e end
      Program program(device);
      const int32_t pa =
          program.input(RC_DTYPE_F32, {RC_DIM_ROWS, n}, a.data());
      const int32_t pb =
          program.input(RC_DTYPE_F32, {RC_DIM_ROWS, n}, b.data());
      const int32_t y = program.output(RC_DTYPE_F32, {RC_DIM_ROWS, n});
      const bool two = c.code == RC_OP_ADD || c.code == RC_OP_GLU;
      Op& op = two ? program.op(c.code, {pa, pb}, {y})
                   : program.op(c.code, {pa}, {y});
      if (c.code == RC_OP_GLU) op.params.glu.function = c.function;
      if (c.code == RC_OP_SCALE) op.params.scale.factor = 0.3f;
      if (c.code == RC_OP_SOFTCAP) op.params.softcap.cap = 3.5f;
      ASSERT_EQ(program.run(rows), RC_OK) << program.message();
      std::vector<double> expected(a.size());
      for (size_t i = 0; i < a.size(); ++i)
        expected[i] = c.expected(a[i], b[i]);
      expect_near(program.result(y), expected, 2e-6, 2e-6);
    }
  }
}

TEST_P(CpuOps, SoftcapOfSmallNumbersKeepsItsDigits) {
  const Device device(1, GetParam());
  std::vector<float> x(64);
  for (size_t i = 0; i < x.size(); ++i) {
    x[i] = std::ldexp(1.0f, -static_cast<int>(i) / 2) * (i % 2 ? 1 : -1);
  }
  Program program(device);
  const int32_t px = program.input(RC_DTYPE_F32, {RC_DIM_ROWS, 64}, x.data());
  const int32_t y = program.output(RC_DTYPE_F32, {RC_DIM_ROWS, 64});
  program.op(RC_OP_SOFTCAP, {px}, {y}).params.softcap.cap = 2;
  ASSERT_EQ(program.run(1), RC_OK) << program.message();
  for (int i = 0; i < 64; ++i) {
    const double expected = 2 * std::tanh(x[i] / 2.0);
    ASSERT_NEAR(program.result(y)[i], expected, 1e-6 * std::fabs(expected));
  }
}

TEST_P(CpuOps, GeluKeepsItsDigitsInTheTail) {
  const Device device(1, GetParam());
  constexpr int64_t n = 4096;
  std::vector<float> x(n);  // from -8 to 8
  for (int64_t i = 0; i < n; ++i) {
    x[i] = 16.0f * (static_cast<float>(i) + 0.5f) / n - 8;
  }
  const std::vector<float> ones(n, 1.0f);
  Program program(device);
  const int32_t px = program.input(RC_DTYPE_F32, {RC_DIM_ROWS, n}, x.data());
  const int32_t py = program.input(RC_DTYPE_F32, {RC_DIM_ROWS, n}, ones.data());
  const int32_t y = program.output(RC_DTYPE_F32, {RC_DIM_ROWS, n});
  program.op(RC_OP_GLU, {px, py}, {y}).params.glu.function = RC_FUNCTION_GELU;
  ASSERT_EQ(program.run(1), RC_OK) << program.message();
  for (int64_t i = 0; i < n; ++i) {
    const double expected = 0.5 * x[i] * std::erfc(-x[i] / std::sqrt(2.0));
    // x / sqrt 2, rounded to a float, is squared before it is a power of e.
    ASSERT_NEAR(program.result(y)[i], expected, 1e-5 * std::fabs(expected))
        << x[i];
  }
}

TEST_P(CpuOps, RmsNormOfRowsAndHeadsMatchesDoubles) {
  const Device device(2, GetParam());
  for (int64_t n : kLengths) {
    constexpr int64_t rows = 7, heads = 3;
    const auto x = random_floats(rows * heads * n, 1, 3);
    const auto weight = random_floats(n, 2);
    Program program(device);
    const int32_t px =
        program.input(RC_DTYPE_F32, {RC_DIM_ROWS, heads, n}, x.data());
    const int32_t pw =
        program.weight(RC_DTYPE_F32, {n}, weight.data(), RC_USE_ELEMENTS);
    const int32_t y = program.output(RC_DTYPE_F32, {RC_DIM_ROWS, heads, n});
    program.op(RC_OP_RMS_NORM, {px, pw}, {y}).params.norm.epsilon = 1e-5f;
    ASSERT_EQ(program.run(rows), RC_OK) << program.message();
    std::vector<double> expected(x.size());
    for (int64_t r = 0; r < rows * heads; ++r) {
      double squares = 0;
      for (int64_t i = 0; i < n; ++i) squares += std::pow(x[r * n + i], 2);
      for (int64_t i = 0; i < n; ++i) {
        expected[r * n + i] =
            x[r * n + i] / std::sqrt(squares / n + 1e-5f) * weight[i];
      }
    }
    expect_near(program.result(y), expected, 2e-6, 0);
  }
}

TEST_P(CpuOps, RopeTurnsBothKindsOfPairs) {
  const Device device(2, GetParam());
  constexpr int64_t rows = 9, heads = 3, d = 20, pairs = 7;
  const auto x = random_floats(rows * heads * d, 1);
  std::vector<float> frequencies(pairs);
  for (int64_t i = 0; i < pairs; ++i) {
    frequencies[i] = static_cast<float>(std::pow(10000.0, -2.0 * i / d));
  }
  const std::vector<int32_t> positions = {0,  1,   2,      3,     100,
                                          17, 999, 100000, 131071};
  for (int32_t style : {RC_ROPE_ADJACENT, RC_ROPE_HALVES}) {
    Program program(device);
    const int32_t px =
        program.input(RC_DTYPE_F32, {RC_DIM_ROWS, heads, d}, x.data());
    const int32_t pp =
        program.input(RC_DTYPE_I32, {RC_DIM_ROWS}, positions.data());
    const int32_t pf = program.weight(RC_DTYPE_F32, {pairs}, frequencies.data(),
                                      RC_USE_ELEMENTS);
    const int32_t y = program.output(RC_DTYPE_F32, {RC_DIM_ROWS, heads, d});
    const int32_t twice = program.output(RC_DTYPE_F32, {RC_DIM_ROWS, heads, d});
    for (const auto& [from, to] : {std::pair{px, y}, std::pair{y, twice}}) {
      Op& op = program.op(RC_OP_ROPE, {from, pp, pf}, {to});
      op.params.rope.style = style;
      op.params.rope.scale = 1.25f;
    }
    ASSERT_EQ(program.run(rows), RC_OK) << program.message();
    const auto turn = [&](const std::vector<double>& v) {
      auto result = v;
      for (int64_t r = 0; r < rows; ++r) {
        for (int64_t h = 0; h < heads; ++h) {
          for (int64_t i = 0; i < pairs; ++i) {
            const int64_t base = (r * heads + h) * d;
            const int64_t a = base + (style == RC_ROPE_ADJACENT ? 2 * i : i);
            const int64_t b = style == RC_ROPE_ADJACENT ? a + 1 : a + pairs;
            const double angle =
                static_cast<double>(positions[r]) * frequencies[i];
            result[a] =
                1.25 * (v[a] * std::cos(angle) - v[b] * std::sin(angle));
            result[b] =
                1.25 * (v[a] * std::sin(angle) + v[b] * std::cos(angle));
          }
        }
      }
      return result;
    };
    const auto once = turn({x.begin(), x.end()});
    expect_near(program.result(y), once, 1e-6, 1e-6);
    expect_near(program.result(twice), turn(once), 1e-6, 2e-6);
  }
}

TEST_P(CpuOps, RouteChoosesInOrderAndTheFirstAmongEquals) {
  const Device device(2, GetParam());
  constexpr int64_t rows = 6, experts = 9, k = 4;
  auto x = random_floats(rows * experts, 1);
  x[0] = x[5] = x[3] = 9;  // row 0: equals
  for (bool normalize : {false, true}) {
    Program program(device);
    const int32_t px =
        program.input(RC_DTYPE_F32, {RC_DIM_ROWS, experts}, x.data());
    const int32_t ids = program.output(RC_DTYPE_I32, {RC_DIM_ROWS, k});
    const int32_t weights = program.output(RC_DTYPE_F32, {RC_DIM_ROWS, k});
    program.op(RC_OP_ROUTE, {px}, {ids, weights}).params.route.normalize =
        normalize;
    ASSERT_EQ(program.run(rows), RC_OK) << program.message();
    const auto chosen = program.result_ints(ids);
    EXPECT_EQ(std::vector<int32_t>(chosen.begin(), chosen.begin() + 3),
              (std::vector<int32_t>{0, 3, 5}));
    for (int64_t r = 0; r < rows; ++r) {
      const float* row = x.data() + r * experts;
      std::vector<int32_t> order(experts);
      std::iota(order.begin(), order.end(), 0);
      std::stable_sort(order.begin(), order.end(),
                       [&](int a, int b) { return row[a] > row[b]; });
      double total = 0, top = 0;
      for (int64_t e = 0; e < experts; ++e) total += std::exp(row[e]);
      for (int64_t i = 0; i < k; ++i) top += std::exp(row[order[i]]);
      for (int64_t i = 0; i < k; ++i) {
        EXPECT_EQ(chosen[r * k + i], order[i]);
        EXPECT_NEAR(program.result(weights)[r * k + i],
                    std::exp(row[order[i]]) / (normalize ? top : total), 1e-6);
      }
    }
  }
}

TEST_P(CpuOps, ExpertSumMatchesDoubles) {
  const Device device(2, GetParam());
  constexpr int64_t rows = 5, k = 3, n = 37;
  const auto x = random_floats(rows * k * n, 1);
  const auto weights = random_floats(rows * k, 2);
  Program program(device);
  const int32_t px = program.input(RC_DTYPE_F32, {RC_DIM_ROWS, k, n}, x.data());
  const int32_t pw =
      program.input(RC_DTYPE_F32, {RC_DIM_ROWS, k}, weights.data());
  const int32_t y = program.output(RC_DTYPE_F32, {RC_DIM_ROWS, n});
  program.op(RC_OP_EXPERT_SUM, {px, pw}, {y});
  ASSERT_EQ(program.run(rows), RC_OK) << program.message();
  std::vector<double> expected(rows * n);
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t j = 0; j < k; ++j) {
      for (int64_t i = 0; i < n; ++i) {
        expected[r * n + i] +=
            double{weights[r * k + j]} * x[(r * k + j) * n + i];
      }
    }
  }
  expect_near(program.result(y), expected, 1e-6, 1e-6);
}

TEST_P(CpuOps, RowsOfScratchAreGathered) {
  const Device device(2, GetParam());
  const auto x = random_floats(10 * 50, 1);
  const std::vector<int32_t> ids = {9, 0, 4};
  Program program(device);
  const int32_t px = program.input(RC_DTYPE_F32, {RC_DIM_ROWS, 50}, x.data());
  const int32_t pi = program.input(RC_DTYPE_I32, {RC_DIM_OUTPUTS}, ids.data());
  const int32_t sum = program.scratch(RC_DTYPE_F32, {RC_DIM_ROWS, 50});
  const int32_t y = program.output(RC_DTYPE_F32, {RC_DIM_OUTPUTS, 50});
  program.op(RC_OP_ADD, {px, px}, {sum});
  program.op(RC_OP_GET_ROWS, {sum, pi}, {y});
  ASSERT_EQ(program.run(10, 3), RC_OK) << program.message();
  for (int64_t r = 0; r < 3; ++r) {
    for (int64_t i = 0; i < 50; ++i) {
      ASSERT_EQ(program.result(y)[r * 50 + i], 2 * x[ids[r] * 50 + i]);
    }
  }
  EXPECT_EQ(program.run(9, 3), RC_E_INVALID_ARGUMENT);  // row 9 of 9
  EXPECT_EQ(program.run(10, 0), RC_OK);
}

// Lines of a matrix that are a power of two apart are turned along another way.
TEST_P(CpuOps, TransposedCopiesOfEverySizeAreExact) {
  const Device device(2, GetParam());
  for (const int64_t step : {500, 512, 1024}) {
    for (const int64_t rows : {3, 16, 67, 130}) {
      for (const int64_t columns : {5, 16, 21, 64, 150}) {
        // Element (r, c) of the copy lies at c * step + r.
        const int64_t count = (columns - 1) * step + rows;
        std::vector<float> from(static_cast<size_t>(count));
        std::iota(from.begin(), from.end(), 1.0f);
        Program program(device);
        const int32_t x = program.input(RC_DTYPE_F32, {count}, from.data());
        const int32_t y = program.output(RC_DTYPE_F32, {rows, columns});
        const int64_t strides[] = {1, step};
        std::copy_n(strides, 2,
                    program.op(RC_OP_COPY, {x}, {y}).params.copy.strides);
        ASSERT_EQ(program.run(1), RC_OK) << program.message();
        const std::vector<float> found = program.result(y);
        int64_t wrong = 0;
        for (int64_t i = 0; i < rows * columns; ++i) {
          const int64_t at = i % columns * step + i / columns;
          wrong +=
              found[static_cast<size_t>(i)] != from[static_cast<size_t>(at)];
        }
        EXPECT_EQ(wrong, 0)
            << rows << " x " << columns << ", " << step << " apart";
      }
    }
  }
}

}  // namespace
}  // namespace rc::cpu_test
