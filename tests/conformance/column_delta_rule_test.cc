#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "state_util.h"

namespace rc::test {
namespace {

using runtime::Value;

struct ColumnDeltaRuleShape {
  int64_t heads;
  int64_t p;
  int64_t n;
};

void run_column_delta_rule(const StateRows& rows,
                           const ColumnDeltaRuleShape& shape) {
  const auto [heads, p, n] = shape;
  StateTest test("COLUMN_DELTA_RULE", rows.name, rows);
  const int64_t count = rows.rows();
  const int64_t size = heads * p * n;
  // Keys of a length of about 1, as models have: states do not grow.
  const double length = 1 / std::sqrt(static_cast<double>(n));
  const Data v = random_f32(count * heads * p);
  const Data q = random_f32(count * heads * n, length);
  const Data k = random_f32(count * heads * n, length);
  const Data steps = random_f32(count * heads * n);
  // Between 0 and 1, as models have them.
  const Data rates = changed(random_f32(count * heads),
                             [](double x) { return 1 / (1 + std::exp(-x)); });
  const Data step_bias = random_f32(heads * n);
  const Data decay = changed(random_f32(heads),
                             [](double x) { return -0.3 * std::exp(x / 2); });
  const Data cache = random_f32(kStateSlots * size);
  std::vector<double> expected(count * heads * p);
  std::vector<double> states = cache.values;
  for (int64_t s = 0; s < rows.count(); ++s) {
    const int32_t from = rows.slots[2 * s];
    std::vector<double> state(size, 0);
    if (from >= 0) {
      const auto begin = cache.values.begin() + from * size;
      state.assign(begin, begin + size);
    }
    for (int64_t r = 0; r < count; ++r) {
      if (rows.sequences[r] != s) continue;
      for (int64_t i = 0; i < heads * p; ++i) {
        const int64_t h = i / p;
        const int64_t at = (r * heads + h) * n;
        double known = 0;
        for (int64_t j = 0; j < n; ++j) {
          const double t =
              softplus(steps.values[at + j] + step_bias.values[h * n + j]);
          state[i * n + j] *= std::exp(t * decay.values[h]);
          known += state[i * n + j] * k.values[at + j];
        }
        const double change =
            rates.values[r * heads + h] * (v.values[r * heads * p + i] - known);
        double sum = 0;
        for (int64_t j = 0; j < n; ++j) {
          state[i * n + j] += change * k.values[at + j];
          sum += state[i * n + j] * q.values[at + j];
        }
        expected[r * heads * p + i] = sum;
      }
    }
    std::copy(state.begin(), state.end(),
              states.begin() + rows.slots[2 * s + 1] * size);
  }
  runtime::ProgramBuilder::ColumnDeltaRule rule;
  rule.v = test.input({RC_DIM_ROWS, heads, p}, v);
  rule.q = test.input({RC_DIM_ROWS, heads, n}, q);
  rule.k = test.input({RC_DIM_ROWS, heads, n}, k);
  rule.steps = test.input({RC_DIM_ROWS, heads, n}, steps);
  rule.rates = test.input({RC_DIM_ROWS, heads}, rates);
  rule.step_bias = test.weight({heads, n}, step_bias);
  rule.decay = test.weight({heads}, decay);
  const Value held = test.cache({kStateSlots, heads, p, n}, cache);
  test.run(test.builder.column_delta_rule(rule, test.sequences(),
                                          test.state_slots(), held),
           expected, states, kF32Tolerance);
}

TEST(ColumnDeltaRule, EveryKindOfStateMatchesDoubles) {
  for (const StateRows& rows : state_rows())
    run_column_delta_rule(rows, {4, 5, 20});
}

TEST(ColumnDeltaRule, EveryShapeMatchesDoubles) {
  for (const StateRows& rows : state_rows()) {
    run_column_delta_rule(rows, {5, 3, 1});
    run_column_delta_rule(rows, {3, 16, 8});
    run_column_delta_rule(rows, {6, 9, 131});
    run_column_delta_rule(rows, {2, 64, 128});
  }
}

}  // namespace
}  // namespace rc::test
