#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "state_util.h"

namespace rc::test {
namespace {

using runtime::Value;

void run_channel_scan(const StateRows& rows, int64_t d, int64_t n,
                      double decay_size = 0.3, double steps_deviation = 1) {
  StateTest test("CHANNEL_SCAN", rows.name, rows);
  const int64_t count = rows.rows();
  const Data x = random_f32(count * d);
  const Data steps = random_f32(count * d, steps_deviation);
  const Data b = random_f32(count * n);
  const Data c = random_f32(count * n);
  const Data decay = decays(d * n, decay_size);
  const Data skip = random_f32(d);
  const Data cache = random_f32(kStateSlots * d * n);
  std::vector<double> expected(count * d);
  std::vector<double> states = cache.values;
  for (int64_t s = 0; s < rows.count(); ++s) {
    const int32_t from = rows.slots[2 * s];
    std::vector<double> state(d * n, 0);
    if (from >= 0) {
      const auto begin = cache.values.begin() + from * d * n;
      state.assign(begin, begin + d * n);
    }
    for (int64_t r = 0; r < count; ++r) {
      if (rows.sequences[r] != s) continue;
      for (int64_t i = 0; i < d; ++i) {
        const double t = softplus(steps.values[r * d + i]);
        const double value = x.values[r * d + i];
        double sum = skip.values[i] * value;
        for (int64_t j = 0; j < n; ++j) {
          double& kept = state[i * n + j];
          kept = std::exp(t * decay.values[i * n + j]) * kept +
                 t * value * b.values[r * n + j];
          sum += kept * c.values[r * n + j];
        }
        expected[r * d + i] = sum;
      }
    }
    std::copy(state.begin(), state.end(),
              states.begin() + rows.slots[2 * s + 1] * d * n);
  }
  runtime::ProgramBuilder::ChannelScan scan;
  scan.x = test.input({RC_DIM_ROWS, d}, x);
  scan.steps = test.input({RC_DIM_ROWS, d}, steps);
  scan.b = test.input({RC_DIM_ROWS, n}, b);
  scan.c = test.input({RC_DIM_ROWS, n}, c);
  scan.decay = test.weight({d, n}, decay);
  scan.skip = test.weight({d}, skip);
  const Value held = test.cache({kStateSlots, d, n}, cache);
  test.run(test.builder.channel_scan(scan, test.sequences(), test.state_slots(),
                                     held),
           expected, states, kF32Tolerance);
}

TEST(ChannelScan, EveryShapeMatchesDoubles) {
  for (const StateRows& rows : state_rows()) {
    run_channel_scan(rows, 20, 16);
    run_channel_scan(rows, 17, 1);
    run_channel_scan(rows, 131, 7);
    run_channel_scan(rows, 9, 33);
  }
}

// Steps of nearly nothing, and some of which nothing is left.
TEST(ChannelScan, ExtremeStepsMatchDoubles) {
  const std::vector<StateRows> rows = state_rows();
  run_channel_scan(rows[3], 20, 16, 0.3, 40);
  run_channel_scan(rows[3], 20, 16, 1000);
}

}  // namespace
}  // namespace rc::test
