#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "attention_batch.h"
#include "conformance_util.h"

namespace rc::test {
namespace {

using runtime::Value;

struct AttentionShape {
  int64_t heads;
  int64_t kv_heads;
  int64_t d;
  int64_t page_size;
};

void run_attention(DType dtype, const AttentionShape& shape,
                   const std::vector<Part>& parts, float softcap,
                   int64_t window, bool with_sinks = false,
                   bool whole = false) {
  // Lambdas cannot have structured bindings in Clang 15.
  const int64_t heads = shape.heads, kv_heads = shape.kv_heads, d = shape.d;
  const int64_t page_size = shape.page_size;
  const Batch batch(parts, page_size);
  const int64_t per_sequence = batch.per_sequence, pages = batch.pages;
  const auto& table = batch.table;
  const auto& positions = batch.positions;
  const auto& sequences = batch.sequences;
  const auto& lengths = batch.lengths;
  const auto rows = static_cast<int64_t>(positions.size());

  OpTest test("ATTENTION",
              std::string(dtype_name(dtype)) + (softcap > 0 ? " softcap" : "") +
                  (window > 0 ? " window" : "") + (with_sinks ? " sinks" : "") +
                  (whole ? " whole" : ""),
              {rows, 0, static_cast<int64_t>(parts.size())});
  const Data q = random_f32(rows * heads * d);
  const Data keys = random_data(dtype, pages * kv_heads * page_size, d);
  const Data values = random_data(dtype, pages * kv_heads * page_size, d);
  const Data sinks = random_f32(heads, 3);
  const float scale = 1 / std::sqrt(static_cast<float>(d));
  std::vector<double> expected(rows * heads * d);
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t h = 0; h < heads; ++h) {
      const auto place = [&](int64_t p) {
        const int64_t page = table[sequences[r] * per_sequence + p / page_size];
        const int64_t head = h / (heads / kv_heads);
        return ((page * kv_heads + head) * page_size + p % page_size) * d;
      };
      int64_t last =
          whole ? lengths[static_cast<size_t>(sequences[r])] - 1 : positions[r];
      if (whole && window > 0) {
        last = std::min(last, positions[r] + window - 1);
      }
      const int64_t first =
          window == 0 ? 0 : std::max<int64_t>(0, positions[r] - window + 1);
      std::vector<double> shares;
      double total = with_sinks ? std::exp(sinks.values[h]) : 0;
      for (int64_t p = first; p <= last; ++p) {
        double score = 0;
        for (int64_t i = 0; i < d; ++i) {
          score +=
              q.values[(r * heads + h) * d + i] * keys.values[place(p) + i];
        }
        score *= scale;
        if (softcap > 0) score = softcap * std::tanh(score / softcap);
        shares.push_back(std::exp(score));
        total += shares.back();
      }
      for (int64_t p = first; p <= last; ++p) {
        for (int64_t i = 0; i < d; ++i) {
          expected[(r * heads + h) * d + i] +=
              shares[p - first] / total * values.values[place(p) + i];
        }
      }
    }
  }
  const Value qv = test.input(RC_DTYPE_F32, {RC_DIM_ROWS, heads, d}, q);
  const Value k = test.cache(dtype, {pages, kv_heads, page_size, d}, keys);
  const Value v = test.cache(dtype, {pages, kv_heads, page_size, d}, values);
  const Value p = test.input(RC_DTYPE_I32, {RC_DIM_ROWS}, numbers(positions));
  const Value s = test.input(RC_DTYPE_I32, {RC_DIM_ROWS}, numbers(sequences));
  const Value t = test.input(RC_DTYPE_I32, {RC_DIM_SEQUENCES, per_sequence},
                             numbers(table));
  const Value w =
      with_sinks ? test.weight(RC_DTYPE_F32, {heads}, RC_USE_ELEMENTS, sinks)
                 : runtime::kAbsent;
  const Value l =
      whole ? test.input(RC_DTYPE_I32, {RC_DIM_SEQUENCES}, numbers(lengths))
            : runtime::kAbsent;
  test.expect(
      test.builder.attention(qv, k, v, p, s, t, scale, softcap, window, w, l),
      expected);
  test.run(product_tolerance(dtype));
}

TEST(Attention, EveryCacheTypeMatchesDoubles) {
  for (DType dtype : {RC_DTYPE_F32, RC_DTYPE_F16, RC_DTYPE_Q8_0}) {
    run_attention(dtype, {1, 1, 32, 16}, {{1, 1}}, 0, 0);
    run_attention(dtype, {4, 2, 64, 16}, {{40, 3}, {1, 1}, {17, 17}}, 0, 0);
    run_attention(dtype, {6, 2, 96, 7}, {{29, 1}, {7, 2}, {8, 8}}, 0, 0);
    run_attention(dtype, {8, 8, 128, 32}, {{300, 2}}, 0, 0);
  }
}

TEST(Attention, OddHeadsMatchDoubles) {
  run_attention(RC_DTYPE_F32, {3, 1, 7, 5}, {{13, 5}}, 0, 0);
  run_attention(RC_DTYPE_F16, {5, 5, 13, 3}, {{11, 11}}, 0, 0);
}

TEST(Attention, SoftcapAndWindowMatchDoubles) {
  for (DType dtype : {RC_DTYPE_F32, RC_DTYPE_F16, RC_DTYPE_Q8_0}) {
    run_attention(dtype, {4, 2, 64, 16}, {{40, 5}, {3, 3}}, 2.5f, 0);
    for (int64_t window : {1, 5, 16, 39, 1000}) {
      run_attention(dtype, {4, 2, 64, 16}, {{40, 40}, {3, 3}}, 0, window);
    }
    run_attention(dtype, {4, 2, 64, 16}, {{70, 30}}, 1, 20);
  }
}

// Few and many query heads to a key/value head, and more positions than a
// device takes at once.
TEST(Attention, SinksMatchDoubles) {
  for (DType dtype : {RC_DTYPE_F32, RC_DTYPE_F16, RC_DTYPE_Q8_0}) {
    run_attention(dtype, {2, 2, 32, 16}, {{1, 1}}, 0, 0, true);
    run_attention(dtype, {4, 2, 64, 16}, {{40, 3}, {1, 1}, {17, 17}}, 0, 0,
                  true);
    run_attention(dtype, {8, 1, 64, 32}, {{300, 2}, {9, 9}}, 0, 0, true);
    run_attention(dtype, {8, 2, 32, 16}, {{70, 30}}, 2, 20, true);
  }
}

// Rows at the beginning, in the middle and at the end of what they see.
TEST(Attention, WholeSequencesMatchDoubles) {
  for (DType dtype : {RC_DTYPE_F32, RC_DTYPE_F16, RC_DTYPE_Q8_0}) {
    run_attention(dtype, {1, 1, 32, 16}, {{1, 1, 0}}, 0, 0, false, true);
    run_attention(dtype, {4, 2, 64, 16}, {{3, 3, 60}, {17, 17, 0}, {1, 1, 15}},
                  0, 0, false, true);
    run_attention(dtype, {4, 4, 64, 16}, {{40, 40, 0}, {5, 2, 1}}, 0, 0, false,
                  true);
    run_attention(dtype, {8, 1, 64, 32}, {{200, 2, 150}, {9, 9, 0}}, 2, 0, true,
                  true);
  }
  run_attention(RC_DTYPE_F32, {3, 1, 7, 5}, {{4, 4, 9}, {13, 5, 0}}, 0, 0,
                false, true);
}

// A window to both sides.
TEST(Attention, WholeSequencesWithinAWindowMatchDoubles) {
  for (DType dtype : {RC_DTYPE_F32, RC_DTYPE_F16, RC_DTYPE_Q8_0}) {
    for (int64_t window : {1, 5, 33, 1000}) {
      run_attention(dtype, {4, 2, 64, 16}, {{40, 40, 0}, {3, 3, 60}, {1, 1, 0}},
                    0, window, false, true);
    }
    run_attention(dtype, {8, 1, 64, 32}, {{200, 90, 150}, {9, 9, 0}}, 2, 70,
                  false, true);
  }
}

}  // namespace
}  // namespace rc::test
