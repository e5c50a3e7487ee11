#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "attention_batch.h"
#include "conformance_util.h"
#include "labels.h"

namespace rc::test {
namespace {

using runtime::Value;

struct AttentionCase {
  int64_t heads = 4;
  int64_t kv_heads = 2;
  int64_t d = 32;
  int64_t v = 32;
  int64_t page_size = 16;
  bool within_keys = false;  // the values are
  float softcap = 0;
  int64_t window = 0;
  int64_t chunk = 0;
  float temperature = 0;
  int64_t temperature_length = 0;
  bool sinks = false;
  bool slopes = false;
  int64_t span = 0;  // of distances
  bool whole = false;
};

struct Weights {
  Data sinks, slopes, distances;
};

// The x of head h for position p, seen from the row at `position`.
double x_of(const AttentionCase& how, const Weights& weights, double product,
            int64_t h, int64_t p, int64_t position) {
  double x = product / std::sqrt(static_cast<double>(how.d));
  if (how.temperature > 0) {
    const int64_t lengths = (position + 1) / how.temperature_length;
    x *= 1 + how.temperature * std::log(1 + static_cast<double>(lengths));
  }
  if (how.softcap > 0) x = how.softcap * std::tanh(x / how.softcap);
  const int64_t distance = p - position;
  if (how.slopes) {
    x -= weights.slopes.values[h] * static_cast<double>(std::abs(distance));
  }
  if (how.span > 0) {
    const int64_t most = how.span / 2;
    x += weights.distances
             .values[h * how.span + std::clamp(distance, -most, most) + most];
  }
  return x;
}

int64_t first_of(const AttentionCase& how, int64_t position) {
  if (how.chunk > 0) return position - position % how.chunk;
  if (how.window > 0) return std::max<int64_t>(0, position - how.window + 1);
  return 0;
}

void run_general_attention(DType dtype, const AttentionCase& how,
                           const std::vector<Part>& parts) {
  const Batch batch(parts, how.page_size);
  const auto rows = static_cast<int64_t>(batch.positions.size());
  OpTest test(
      "GENERAL_ATTENTION",
      std::string(dtype_name(dtype)) + (how.within_keys ? " within keys" : "") +
          (how.chunk > 0 ? " chunk" : "") + (how.slopes ? " slopes" : "") +
          (how.span > 0 ? " distances" : ""),
      {rows, 0, static_cast<int64_t>(parts.size())});
  const Data q = random_f32(rows * how.heads * how.d);
  const int64_t vectors = batch.pages * how.kv_heads * how.page_size;
  const Data keys = random_data(dtype, vectors, how.d);
  const Data values =
      how.within_keys ? keys : random_data(dtype, vectors, how.v);
  const int64_t step = how.within_keys ? how.d : how.v;
  const Weights weights = {
      random_f32(how.heads, 3), random_f32(how.heads, 0.5),
      random_f32(how.heads * std::max<int64_t>(1, how.span))};
  std::vector<double> expected(rows * how.heads * how.v);
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t h = 0; h < how.heads; ++h) {
      const int64_t sequence = batch.sequences[r];
      const int64_t position = batch.positions[r];
      const auto vector = [&](int64_t p) {
        const int64_t page =
            batch.table[sequence * batch.per_sequence + p / how.page_size];
        return (page * how.kv_heads + h / (how.heads / how.kv_heads)) *
                   how.page_size +
               p % how.page_size;
      };
      const int64_t first = first_of(how, position);
      const int64_t last = how.whole ? batch.lengths[sequence] - 1 : position;
      std::vector<double> shares;
      double total = how.sinks ? std::exp(weights.sinks.values[h]) : 0;
      for (int64_t p = first; p <= last; ++p) {
        double product = 0;
        for (int64_t i = 0; i < how.d; ++i) {
          product += q.values[(r * how.heads + h) * how.d + i] *
                     keys.values[vector(p) * how.d + i];
        }
        shares.push_back(std::exp(x_of(how, weights, product, h, p, position)));
        total += shares.back();
      }
      for (int64_t p = first; p <= last; ++p) {
        for (int64_t i = 0; i < how.v; ++i) {
          expected[(r * how.heads + h) * how.v + i] +=
              shares[p - first] / total * values.values[vector(p) * step + i];
        }
      }
    }
  }
  runtime::ProgramBuilder::GeneralAttention op = {};
  op.q = test.input(RC_DTYPE_F32, {RC_DIM_ROWS, how.heads, how.d}, q);
  op.key_cache = test.cache(
      dtype, {batch.pages, how.kv_heads, how.page_size, how.d}, keys);
  op.value_cache =
      how.within_keys
          ? runtime::kAbsent
          : test.cache(dtype, {batch.pages, how.kv_heads, how.page_size, how.v},
                       values);
  op.positions =
      test.input(RC_DTYPE_I32, {RC_DIM_ROWS}, numbers(batch.positions));
  op.sequences =
      test.input(RC_DTYPE_I32, {RC_DIM_ROWS}, numbers(batch.sequences));
  op.page_table =
      test.input(RC_DTYPE_I32, {RC_DIM_SEQUENCES, batch.per_sequence},
                 numbers(batch.table));
  op.scale = 1 / std::sqrt(static_cast<float>(how.d));
  op.softcap = how.softcap;
  op.window = how.window;
  op.chunk = how.chunk;
  op.temperature = how.temperature;
  op.temperature_length = how.temperature_length;
  op.value_size = how.v;
  const auto elements = [&](bool has, const std::vector<int64_t>& shape,
                            const Data& data) {
    return has ? test.weight(RC_DTYPE_F32, shape, RC_USE_ELEMENTS, data)
               : runtime::kAbsent;
  };
  op.sinks = elements(how.sinks, {how.heads}, weights.sinks);
  op.slopes = elements(how.slopes, {how.heads}, weights.slopes);
  op.distances =
      elements(how.span > 0, {how.heads, how.span}, weights.distances);
  if (how.whole) {
    op.lengths =
        test.input(RC_DTYPE_I32, {RC_DIM_SEQUENCES}, numbers(batch.lengths));
  }
  test.expect(test.builder.general_attention(op), expected);
  test.run(product_tolerance(dtype));
}

constexpr DType kTypes[] = {RC_DTYPE_F32, RC_DTYPE_F16, RC_DTYPE_Q8_0};

// Few and many query heads to a key/value head, and more positions than a
// device takes at once.
TEST(GeneralAttention, SlopesMatchDoubles) {
  for (const DType dtype : kTypes) {
    run_general_attention(dtype, {.slopes = true}, {{40, 3}, {1, 1}, {17, 17}});
    run_general_attention(dtype, {.heads = 9, .kv_heads = 1, .slopes = true},
                          {{300, 2}, {9, 9}});
    run_general_attention(
        dtype, {.softcap = 2, .window = 20, .sinks = true, .slopes = true},
        {{70, 30}});
    run_general_attention(dtype, {.slopes = true, .whole = true},
                          {{3, 3, 60}, {40, 5, 9}});
  }
}

TEST(GeneralAttention, DistancesMatchDoubles) {
  for (const DType dtype : kTypes) {
    run_general_attention(dtype, {.span = 9}, {{40, 3}, {1, 1}, {17, 17}});
    run_general_attention(
        dtype, {.heads = 8, .kv_heads = 1, .span = 257, .whole = true},
        {{200, 2, 150}, {9, 9, 0}});
    run_general_attention(dtype, {.slopes = true, .span = 1}, {{20, 4}});
  }
}

TEST(GeneralAttention, ValuesOfAnotherLengthMatchDoubles) {
  for (const DType dtype : kTypes) {
    run_general_attention(dtype, {.d = 64, .v = 32}, {{40, 3}, {17, 17}});
    run_general_attention(dtype, {.heads = 8, .kv_heads = 1, .d = 32, .v = 96},
                          {{100, 20}, {1, 1}});
  }
  run_general_attention(RC_DTYPE_F32,
                        {.heads = 3, .kv_heads = 1, .d = 7, .v = 5}, {{13, 5}});
  run_general_attention(RC_DTYPE_F16, {.d = 5, .v = 13}, {{11, 11}});
}

TEST(GeneralAttention, ValuesWithinKeysMatchDoubles) {
  for (const DType dtype : kTypes) {
    run_general_attention(
        dtype,
        {.heads = 2, .kv_heads = 1, .d = 96, .v = 64, .within_keys = true},
        {{40, 3}, {17, 17}});
    if (dtype == RC_DTYPE_F16 || is_full_set()) {
      run_general_attention(dtype,
                            {.heads = 16,
                             .kv_heads = 1,
                             .d = 576,
                             .v = 512,
                             .within_keys = true,
                             .sinks = true},
                            {{130, 2}, {1, 1}});
    }
    run_general_attention(dtype, {.d = 32, .v = 32, .within_keys = true},
                          {{9, 9}});
  }
  run_general_attention(
      RC_DTYPE_F16,
      {.heads = 5, .kv_heads = 1, .d = 13, .v = 7, .within_keys = true},
      {{70, 6}});
}

TEST(GeneralAttention, ChunksMatchDoubles) {
  for (const DType dtype : kTypes) {
    for (const int64_t chunk : {1, 7, 16, 64, 1000}) {
      run_general_attention(dtype, {.chunk = chunk}, {{70, 70}, {3, 3}});
    }
    run_general_attention(
        dtype, {.heads = 8, .kv_heads = 1, .chunk = 100, .sinks = true},
        {{250, 60}});
  }
}

TEST(GeneralAttention, TemperatureMatchesDoubles) {
  for (const DType dtype : kTypes) {
    run_general_attention(dtype, {.temperature = 0.5f, .temperature_length = 8},
                          {{70, 70}, {3, 3}});
    run_general_attention(dtype, {.temperature = 0.1f, .temperature_length = 1},
                          {{30, 20}});
  }
}

}  // namespace
}  // namespace rc::test
