#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "state_util.h"

namespace rc::test {
namespace {

using runtime::Value;

struct ScanShape {
  int64_t heads;
  int64_t p;
  int64_t groups;
  int64_t n;
};

// The mean of the steps before softplus, and their deviation.
struct Steps {
  double mean = 0;
  double deviation = 1;
};

void run_selective_scan(const StateRows& rows, const ScanShape& shape,
                        Steps about = {}, double decay_size = 0.3,
                        double skip_size = 1) {
  const auto [heads, p, groups, n] = shape;
  StateTest test("SELECTIVE_SCAN", rows.name, rows);
  const int64_t count = rows.rows();
  const int64_t size = heads * p * n;
  const Data x = random_f32(count * heads * p);
  const Data steps = changed(random_f32(count * heads, about.deviation),
                             [&](double x) { return x + about.mean; });
  const Data b = random_f32(count * groups * n);
  const Data c = random_f32(count * groups * n);
  const Data step_bias = random_f32(heads);
  const Data decay = decays(heads, decay_size);
  const Data skip = random_f32(heads, skip_size);
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
        const double t =
            softplus(steps.values[r * heads + h] + step_bias.values[h]);
        const int64_t group = (r * groups + h / (heads / groups)) * n;
        const double value = x.values[r * heads * p + i];
        double sum = skip.values[h] * value;
        for (int64_t j = 0; j < n; ++j) {
          double& kept = state[i * n + j];
          kept = std::exp(t * decay.values[h]) * kept +
                 t * value * b.values[group + j];
          sum += kept * c.values[group + j];
        }
        expected[r * heads * p + i] = sum;
      }
    }
    std::copy(state.begin(), state.end(),
              states.begin() + rows.slots[2 * s + 1] * size);
  }
  runtime::ProgramBuilder::Scan scan;
  scan.x = test.input({RC_DIM_ROWS, heads, p}, x);
  scan.steps = test.input({RC_DIM_ROWS, heads}, steps);
  scan.b = test.input({RC_DIM_ROWS, groups, n}, b);
  scan.c = test.input({RC_DIM_ROWS, groups, n}, c);
  scan.step_bias = test.weight({heads}, step_bias);
  scan.decay = test.weight({heads}, decay);
  scan.skip = test.weight({heads}, skip);
  const Value held = test.cache({kStateSlots, heads, p, n}, cache);
  test.run(test.builder.selective_scan(scan, test.sequences(),
                                       test.state_slots(), held),
           expected, states, kF32Tolerance);
}

TEST(SelectiveScan, EveryKindOfStateMatchesDoubles) {
  for (const StateRows& rows : state_rows()) {
    run_selective_scan(rows, {4, 5, 1, 20});
    run_selective_scan(rows, {4, 5, 2, 20});
  }
}

TEST(SelectiveScan, EveryShapeMatchesDoubles) {
  for (const StateRows& rows : state_rows()) {
    run_selective_scan(rows, {1, 1, 1, 1});
    run_selective_scan(rows, {3, 16, 3, 8});
    run_selective_scan(rows, {6, 9, 2, 131});
    run_selective_scan(rows, {2, 64, 1, 128});
  }
}

// Steps of nearly nothing, of which only they themselves are seen; some of
// which nothing is left; and steps that are what softplus is given.
TEST(SelectiveScan, ExtremeStepsMatchDoubles) {
  const std::vector<StateRows> rows = state_rows();
  const ScanShape shape = {4, 5, 2, 20};
  run_selective_scan(rows[0], shape, {-20, 1}, 1, 1e-30);
  run_selective_scan(rows[3], shape, {-120, 1});
  for (const double mean : {5.0, 25.0, 120.0}) {
    run_selective_scan(rows[3], shape, {mean, 1}, 0.01);
    run_selective_scan(rows[3], shape, {mean, 1}, 1000);
  }
}

}  // namespace
}  // namespace rc::test
