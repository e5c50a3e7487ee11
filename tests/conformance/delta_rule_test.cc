#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "state_util.h"

namespace rc::test {
namespace {

using runtime::Value;

struct DeltaRuleShape {
  int64_t heads;
  int64_t p;
  int64_t groups;
  int64_t n;
};

void run_delta_rule(const StateRows& rows, const DeltaRuleShape& shape,
                    bool interleaved) {
  const auto [heads, p, groups, n] = shape;
  StateTest test("DELTA_RULE", rows.name, rows);
  const int64_t count = rows.rows();
  const int64_t size = heads * p * n;
  // Keys of a length of about 1, as models have: states do not grow.
  const double length = 1 / std::sqrt(static_cast<double>(n));
  const Data v = random_f32(count * heads * p);
  const Data q = random_f32(count * groups * n, length);
  const Data k = random_f32(count * groups * n, length);
  const Data steps = random_f32(count * heads);
  // Between 0 and 1, as models have them.
  const Data rates = changed(random_f32(count * heads),
                             [](double x) { return 1 / (1 + std::exp(-x)); });
  const Data step_bias = random_f32(heads);
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
        const int64_t in_row = interleaved ? h % groups : h / (heads / groups);
        const int64_t group = (r * groups + in_row) * n;
        const double t =
            softplus(steps.values[r * heads + h] + step_bias.values[h]);
        double known = 0;
        for (int64_t j = 0; j < n; ++j) {
          state[i * n + j] *= std::exp(t * decay.values[h]);
          known += state[i * n + j] * k.values[group + j];
        }
        const double change =
            rates.values[r * heads + h] * (v.values[r * heads * p + i] - known);
        double sum = 0;
        for (int64_t j = 0; j < n; ++j) {
          state[i * n + j] += change * k.values[group + j];
          sum += state[i * n + j] * q.values[group + j];
        }
        expected[r * heads * p + i] = sum;
      }
    }
    std::copy(state.begin(), state.end(),
              states.begin() + rows.slots[2 * s + 1] * size);
  }
  runtime::ProgramBuilder::DeltaRule rule;
  rule.v = test.input({RC_DIM_ROWS, heads, p}, v);
  rule.q = test.input({RC_DIM_ROWS, groups, n}, q);
  rule.k = test.input({RC_DIM_ROWS, groups, n}, k);
  rule.steps = test.input({RC_DIM_ROWS, heads}, steps);
  rule.rates = test.input({RC_DIM_ROWS, heads}, rates);
  rule.step_bias = test.weight({heads}, step_bias);
  rule.decay = test.weight({heads}, decay);
  rule.interleaved = interleaved;
  const Value held = test.cache({kStateSlots, heads, p, n}, cache);
  test.run(
      test.builder.delta_rule(rule, test.sequences(), test.state_slots(), held),
      expected, states, kF32Tolerance);
}

TEST(DeltaRule, EveryKindOfStateMatchesDoubles) {
  for (const StateRows& rows : state_rows()) {
    run_delta_rule(rows, {4, 5, 1, 20}, false);
    run_delta_rule(rows, {4, 5, 2, 20}, false);
    run_delta_rule(rows, {4, 5, 2, 20}, true);
  }
}

TEST(DeltaRule, EveryShapeMatchesDoubles) {
  for (const StateRows& rows : state_rows()) {
    run_delta_rule(rows, {5, 3, 1, 1}, false);
    run_delta_rule(rows, {3, 16, 3, 8}, false);
    run_delta_rule(rows, {6, 9, 2, 131}, true);
    run_delta_rule(rows, {2, 64, 1, 128}, false);
  }
}

}  // namespace
}  // namespace rc::test
