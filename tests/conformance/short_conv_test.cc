#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "state_util.h"

namespace rc::test {
namespace {

using runtime::Value;

void run_short_conv(const StateRows& rows, int64_t d, int64_t width,
                    bool with_bias, int function) {
  StateTest test("SHORT_CONV",
                 cat(rows.name, with_bias ? " bias" : "",
                     function == RC_FUNCTION_SILU ? " silu" : ""),
                 rows);
  const int64_t size = (width - 1) * d;
  const Data x = random_f32(rows.rows() * d);
  const Data weight = random_f32(d * width);
  const Data bias = random_f32(d);
  const Data cache = random_f32(kStateSlots * size);
  std::vector<double> expected(rows.rows() * d);
  std::vector<double> states = cache.values;
  for (int64_t s = 0; s < rows.count(); ++s) {
    // All rows that the sequence has had, as far as they matter.
    const int32_t from = rows.slots[2 * s];
    std::vector<double> seen(size, 0);
    if (from >= 0) {
      const auto state = cache.values.begin() + from * size;
      seen.assign(state, state + size);
    }
    for (int64_t r = 0; r < rows.rows(); ++r) {
      if (rows.sequences[r] != s) continue;
      const auto row = x.values.begin() + r * d;
      seen.insert(seen.end(), row, row + d);
      const auto last = static_cast<int64_t>(seen.size()) - width * d;
      for (int64_t c = 0; c < d; ++c) {
        double sum = with_bias ? bias.values[c] : 0;
        for (int64_t i = 0; i < width; ++i) {
          sum += weight.values[c * width + i] * seen[last + i * d + c];
        }
        if (function == RC_FUNCTION_SILU) sum /= 1 + std::exp(-sum);
        expected[r * d + c] = sum;
      }
    }
    std::copy(seen.end() - size, seen.end(),
              states.begin() + rows.slots[2 * s + 1] * size);
  }
  const Value xv = test.input({RC_DIM_ROWS, d}, x);
  const Value w = test.weight({d, width}, weight);
  const Value b = with_bias ? test.weight({d}, bias) : runtime::kAbsent;
  const Value c = test.cache({kStateSlots, width - 1, d}, cache);
  test.run(test.builder.short_conv(xv, w, b, test.sequences(),
                                   test.state_slots(), c, function),
           expected, states, kF32Tolerance);
}

TEST(ShortConv, EveryKindOfStateMatchesDoubles) {
  for (const StateRows& rows : state_rows()) {
    for (const int64_t width : {2, 4}) {
      run_short_conv(rows, 70, width, false, RC_FUNCTION_NONE);
      run_short_conv(rows, 70, width, true, RC_FUNCTION_SILU);
    }
  }
}

// One channel, whole vectors, and more than a device takes at once.
TEST(ShortConv, EveryNumberOfChannelsMatchesDoubles) {
  for (const StateRows& rows : state_rows()) {
    for (const int64_t d : {1, 64, 1031}) {
      run_short_conv(rows, d, 4, true, RC_FUNCTION_NONE);
      run_short_conv(rows, d, 3, false, RC_FUNCTION_SILU);
    }
  }
}

TEST(ShortConv, WindowWiderThanTheRunMatchesDoubles) {
  for (const StateRows& rows : state_rows()) {
    run_short_conv(rows, 19, 13, true, RC_FUNCTION_SILU);
  }
}

}  // namespace
}  // namespace rc::test
