#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "state_util.h"

namespace rc::test {
namespace {

struct FadingShape {
  int64_t heads;
  int64_t p;
  int64_t n;
};

// `corrects`: there are a and b. `own`: the second output, in place of the
// first.
void run_fading(const StateRows& rows, const FadingShape& shape, bool corrects,
                bool own) {
  const auto [heads, p, n] = shape;
  StateTest test("FADING_STATE", rows.name, rows);
  const int64_t count = rows.rows();
  const int64_t size = heads * p * n;
  // Keys of a length of about 1, as models have: states do not grow.
  const double length = 1 / std::sqrt(static_cast<double>(n));
  const Data v = random_f32(count * heads * p);
  const Data q = random_f32(count * heads * n);
  const Data k = random_f32(count * heads * n, length);
  const Data decays = random_f32(count * heads * n, 2.0);
  const Data a = random_f32(count * heads * n, length);
  const Data b = random_f32(count * heads * n, length);
  const Data bonus = random_f32(heads * n);
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
        const double value = v.values[r * heads * p + i];
        double before = 0;
        double known = 0;
        double share = 0;
        for (int64_t j = 0; j < n; ++j) {
          before += state[i * n + j] * q.values[at + j];
          known += state[i * n + j] * a.values[at + j];
          share +=
              bonus.values[h * n + j] * k.values[at + j] * q.values[at + j];
        }
        double after = 0;
        for (int64_t j = 0; j < n; ++j) {
          const double x = decays.values[at + j];
          const double kept = std::exp(
              corrects ? -std::exp(-0.5) / (1 + std::exp(-x)) : -std::exp(x));
          double& element = state[i * n + j];
          element = element * kept + value * k.values[at + j];
          if (corrects) element += known * b.values[at + j];
          after += element * q.values[at + j];
        }
        expected[r * heads * p + i] = own        ? share * value
                                      : corrects ? after
                                                 : before;
      }
    }
    std::copy(state.begin(), state.end(),
              states.begin() + rows.slots[2 * s + 1] * size);
  }
  runtime::ProgramBuilder::FadingState given = {};
  given.v = test.input({RC_DIM_ROWS, heads, p}, v);
  given.q = test.input({RC_DIM_ROWS, heads, n}, q);
  given.k = test.input({RC_DIM_ROWS, heads, n}, k);
  given.decays = test.input({RC_DIM_ROWS, heads, n}, decays);
  if (corrects) {
    given.a = test.input({RC_DIM_ROWS, heads, n}, a);
    given.b = test.input({RC_DIM_ROWS, heads, n}, b);
  }
  given.bonus = test.weight({heads, n}, bonus);
  const auto faded =
      test.builder.fading_state(given, test.sequences(), test.state_slots(),
                                test.cache({kStateSlots, heads, p, n}, cache));
  test.run(own ? faded.own : faded.y, expected, states, kF32Tolerance);
}

TEST(FadingState, EveryKindOfStateMatchesDoubles) {
  for (const StateRows& rows : state_rows()) {
    for (const bool corrects : {false, true}) {
      run_fading(rows, {3, 5, 20}, corrects, false);
      run_fading(rows, {3, 5, 20}, corrects, true);
    }
  }
}

TEST(FadingState, EveryShapeMatchesDoubles) {
  for (const StateRows& rows : state_rows()) {
    for (const bool corrects : {false, true}) {
      run_fading(rows, {5, 3, 1}, corrects, false);
      run_fading(rows, {2, 9, 131}, corrects, false);
      run_fading(rows, {1, 64, 64}, corrects, false);
    }
  }
}

TEST(FadingState, OperandsAAndBRequireEachOther) {
  runtime::ProgramBuilder builder;
  const runtime::Value x = builder.input(RC_DTYPE_F32, {RC_DIM_ROWS, 2, 4});
  runtime::ProgramBuilder::FadingState given = {};
  given.v = given.q = given.k = given.decays = given.a = x;
  given.bonus = builder.weight("bonus", RC_DTYPE_F32, {2, 4}, RC_USE_ELEMENTS);
  const runtime::Value sequences = builder.input(RC_DTYPE_I32, {RC_DIM_ROWS});
  const runtime::Value slots =
      builder.input(RC_DTYPE_I32, {RC_DIM_SEQUENCES, 2});
  const runtime::Value cache = builder.cache(RC_DTYPE_F32, {1, 2, 4, 4});
  try {
    builder.fading_state(given, sequences, slots, cache);
    FAIL() << "b is missing";
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), RC_E_INVALID_ARGUMENT);
    EXPECT_EQ(error.message(),
              std::string("FADING_STATE: it has a alone of a and b"));
  }
}

}  // namespace
}  // namespace rc::test
