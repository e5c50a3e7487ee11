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

TEST_P(CpuOps, ElementwiseOps) {
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

TEST_P(CpuOps, RmsNormOfRowsAndOfHeads) {
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

TEST_P(CpuOps, ExpertSum) {
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

// A few sequences whose pages lie anywhere in the cache. They take turns, each
// with as many positions as go together.
struct Conversation {
  static constexpr int64_t kSequences = 3;
  int64_t page_size, length, together, row_pages, pages;
  std::vector<int32_t> positions, sequences, table;

  Conversation(int64_t size, int64_t tokens, int64_t turn = 1)
      : page_size(size),
        length(tokens),
        together(turn),
        row_pages((tokens + size - 1) / size),
        pages(row_pages * kSequences + 2),
        table(kSequences * row_pages) {
    for (size_t i = 0; i < table.size(); ++i) {
      table[i] = static_cast<int32_t>((i * 5 + 3) % pages);
    }
    for (int64_t first = 0; first < tokens; first += turn) {
      for (int32_t s = 0; s < kSequences; ++s) {
        for (int64_t p = first; p < std::min(first + turn, tokens); ++p) {
          positions.push_back(static_cast<int32_t>(p));
          sequences.push_back(s);
        }
      }
    }
  }
  int64_t rows() const { return length * kSequences; }
  int64_t row_of(int64_t position, int64_t sequence) const {
    const int64_t first = position / together * together;
    const int64_t turn = std::min(together, length - first);
    return first * kSequences + sequence * turn + position - first;
  }
};

struct AttentionShape {
  int64_t page_size, together, heads, kv_heads, d, window;
  float softcap;
  rc_dtype keys, values;
};

// Stores and attends; the values of a run.
struct AttentionProgram {
  AttentionProgram(const Device& device, const Conversation& talk,
                   const AttentionShape& shape, const float* q, const float* k,
                   const float* v)
      : program(device) {
    program.max_sequences = Conversation::kSequences;
    pq = program.input(RC_DTYPE_F32, {RC_DIM_ROWS, shape.heads, shape.d}, q);
    pk = program.input(RC_DTYPE_F32, {RC_DIM_ROWS, shape.kv_heads, shape.d}, k);
    pv = program.input(RC_DTYPE_F32, {RC_DIM_ROWS, shape.kv_heads, shape.d}, v);
    pp = program.input(RC_DTYPE_I32, {RC_DIM_ROWS}, talk.positions.data());
    ps = program.input(RC_DTYPE_I32, {RC_DIM_ROWS}, talk.sequences.data());
    pt = program.input(RC_DTYPE_I32, {RC_DIM_SEQUENCES, talk.row_pages},
                       talk.table.data());
    const std::vector<int64_t> cache = {talk.pages, shape.kv_heads,
                                        shape.page_size, shape.d};
    const int32_t keys = program.cache(shape.keys, cache);
    const int32_t values = program.cache(shape.values, cache);
    y = program.output(RC_DTYPE_F32, {RC_DIM_ROWS, shape.heads, shape.d});
    program.op(RC_OP_CACHE_STORE, {pk, pp, ps, pt, keys}, {});
    program.op(RC_OP_CACHE_STORE, {pv, pp, ps, pt, values}, {});
    Op& op = program.op(RC_OP_ATTENTION, {pq, keys, values, pp, ps, pt}, {y});
    op.params.attention.scale = 0.3f;
    op.params.attention.softcap = shape.softcap;
    op.params.attention.window = shape.window;
  }
  Program program;
  int32_t pq, pk, pv, pp, ps, pt, y;
};

TEST_P(CpuOps, AttentionAgainstDoublesAndInvariant) {
  constexpr rc_dtype F32 = RC_DTYPE_F32, F16 = RC_DTYPE_F16,
                     Q8_0 = RC_DTYPE_Q8_0;
  const AttentionShape shapes[] = {
      {16, 1, 4, 2, 8, 0, 0, F32, F32},
      {64, 1, 8, 1, 64, 0, 0, F16, F16},
      {144, 40, 8, 2, 64, 0, 0, F16, F16},
      {100, 9, 6, 2, 80, 0, 20, F16, F16},
      {32, 1, 5, 5, 64, 7, 0, Q8_0, Q8_0},
      {48, 150, 6, 1, 32, 30, 0, Q8_0, Q8_0},
      {128, 33, 7, 1, 128, 50, 5, F32, F32},
      {1, 20, 2, 2, 33, 0, 0, F32, F32},
      {1, 20, 5, 1, 33, 0, 0, F32, F32},
      // All numbers of query heads that go together, and those that are left.
      {32, 1, 9, 1, 40, 0, 0, F16, F16},
      {32, 70, 7, 1, 72, 0, 3, F16, F16},
      {40, 1, 6, 1, 13, 75, 0, F16, F16},
      {64, 130, 10, 2, 33, 0, 0, F16, F16},
      {32, 1, 3, 1, 20, 0, 0, F16, F16},
      {32, 16, 2, 1, 96, 0, 0, Q8_0, Q8_0},
      // Keys and values of two kinds.
      {32, 1, 8, 1, 64, 0, 0, Q8_0, F16},
      {24, 50, 6, 2, 96, 0, 0, F16, Q8_0},
      {32, 1, 4, 1, 32, 0, 0, F32, F16},
      {48, 1, 2, 1, 64, 90, 0, F16, F32},
  };
  for (const AttentionShape& s : shapes) {
    SCOPED_TRACE(testing::Message()
                 << s.heads << " heads, d " << s.d << ", page " << s.page_size);
    const Conversation talk(s.page_size, 150, s.together);
    const int64_t rows = talk.rows();
    const auto q = random_floats(rows * s.heads * s.d, 1, 0.5f);
    const auto k = random_floats(rows * s.kv_heads * s.d, 2);
    const auto v = random_floats(rows * s.kv_heads * s.d, 3);
    const Device device(1, GetParam());
    AttentionProgram whole(device, talk, s, q.data(), k.data(), v.data());
    ASSERT_EQ(whole.program.run(rows, 0, 3), RC_OK) << whole.program.message();
    const auto result = whole.program.result(whole.y);

    // Keys and values as the cache holds them.
    auto stored = [&](std::vector<float> x, rc_dtype dtype) {
      std::vector<uint8_t> bytes(*row_bytes(dtype, s.d));
      for (size_t i = 0; i < x.size(); i += s.d) {
        encode_row(dtype, &x[i], bytes.data(), s.d);
        decode_row(dtype, bytes.data(), &x[i], s.d);
      }
      return x;
    };
    const auto sk = stored(k, s.keys);
    const auto sv = stored(v, s.values);
    const int64_t group = s.heads / s.kv_heads;
    for (int64_t r = 0; r < rows; r += 11) {
      const int64_t p = talk.positions[r];
      const int64_t first =
          s.window ? std::max<int64_t>(0, p - s.window + 1) : 0;
      for (int64_t h = 0; h < s.heads; ++h) {
        std::vector<double> expected(s.d);
        double total = 0;
        for (int64_t t = first; t <= p; ++t) {
          const int64_t at =
              (talk.row_of(t, talk.sequences[r]) * s.kv_heads + h / group) *
              s.d;
          double x = 0;
          for (int64_t i = 0; i < s.d; ++i) {
            x += double{q[(r * s.heads + h) * s.d + i]} * sk[at + i];
          }
          x *= 0.3f;
          if (s.softcap > 0) x = s.softcap * std::tanh(x / s.softcap);
          const double weight = std::exp(x);
          total += weight;
          for (int64_t i = 0; i < s.d; ++i) expected[i] += weight * sv[at + i];
        }
        for (int64_t i = 0; i < s.d; ++i) {
          ASSERT_NEAR(result[(r * s.heads + h) * s.d + i], expected[i] / total,
                      1e-5)
              << "row " << r << " head " << h << " element " << i;
        }
      }
    }

    for (int threads : {2, 3}) {
      const Device other(threads, GetParam());
      AttentionProgram parts(other, talk, s, q.data(), k.data(), v.data());
      int64_t at = 0;
      for (int64_t step : {1, 7, 64, 2, 376}) {
        Program& program = parts.program;
        program.change_input(parts.pq, q.data() + at * s.heads * s.d);
        program.change_input(parts.pk, k.data() + at * s.kv_heads * s.d);
        program.change_input(parts.pv, v.data() + at * s.kv_heads * s.d);
        program.change_input(parts.pp, talk.positions.data() + at);
        program.change_input(parts.ps, talk.sequences.data() + at);
        ASSERT_EQ(program.run(step, 0, 3), RC_OK) << program.message();
        ASSERT_EQ(std::memcmp(program.result(parts.y).data(),
                              result.data() + at * s.heads * s.d,
                              step * s.heads * s.d * sizeof(float)),
                  0)
            << step << " rows from " << at << ", " << threads << " threads";
        at += step;
      }
      ASSERT_EQ(at, rows);
    }
  }
}

TEST_P(CpuOps, AttentionRefusesPagesThatAreNone) {
  const AttentionShape shape = {16,           1,           4, 2, 32, 0, 0,
                                RC_DTYPE_F16, RC_DTYPE_F16};
  Conversation talk(16, 40);
  const int64_t rows = talk.rows();
  const auto x = random_floats(rows * 4 * 32, 1);
  const Device device(2, GetParam());
  AttentionProgram attention(device, talk, shape, x.data(), x.data(), x.data());
  Program& program = attention.program;
  ASSERT_EQ(program.run(rows, 0, 3), RC_OK) << program.message();
  EXPECT_EQ(program.run(rows, 0, 2), RC_E_INVALID_ARGUMENT);
  const auto with = [&](std::vector<int32_t>& numbers, size_t i, int32_t bad) {
    const int32_t good = std::exchange(numbers[i], bad);
    EXPECT_EQ(program.run(rows, 0, 3), RC_E_INVALID_ARGUMENT);
    EXPECT_NE(program.message(), "");
    numbers[i] = good;
  };
  with(talk.table, 4, -1);
  with(talk.table, 4, static_cast<int32_t>(talk.pages));
  with(talk.positions, 60, -1);
  with(talk.positions, 60, INT32_MAX);
  with(talk.sequences, 60, -1);
  with(talk.sequences, 60, 3);
  EXPECT_EQ(program.run(rows, 0, 3), RC_OK);
}

}  // namespace
}  // namespace rc::cpu_test
