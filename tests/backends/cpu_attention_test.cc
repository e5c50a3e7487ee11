// Attention of rows over paged caches, against plain loops in double.
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

class CpuAttention : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Levels, CpuAttention, testing::ValuesIn(level_names()),
                         [](const auto& level) { return level.param; });

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

TEST_P(CpuAttention, MatchesDoublesAndDoesNotDependOnTheBatch) {
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

TEST_P(CpuAttention, RefusesInvalidPages) {
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
