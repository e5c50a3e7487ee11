// Plans of scratch memory that are refused, and the nearest that are made.
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "expect_error.h"
#include "runtime/program.h"

namespace rc::runtime {
namespace {

void expect_refused(const std::string& message, ProgramDescription description,
                    const ProgramLimits& limits) {
  test::expect_error(RC_E_INVALID_ARGUMENT, message,
                     [&] { plan_scratch(description, limits); });
}

uint64_t planned(ProgramDescription description, const ProgramLimits& limits) {
  return plan_scratch(description, limits);
}

// Value 0 is the input, value 1 twice as much, value 2 that with a cap.
ProgramDescription chain(int64_t width) {
  ProgramBuilder builder;
  const Value x = builder.input(RC_DTYPE_F32, {RC_DIM_ROWS, width});
  builder.softcap(builder.scale(x, 2), 3);
  return std::move(builder).take();
}

TEST(ScratchPlanErrors, NegativeLimitsAreRefused) {
  const ProgramDescription description = chain(16);
  expect_refused(
      "limits of a program below zero: -1 rows, 2 outputs, 3 sequences",
      description, {-1, 2, 3});
  expect_refused(
      "limits of a program below zero: 1 rows, -1 outputs, 3 sequences",
      description, {1, -1, 3});
  expect_refused(
      "limits of a program below zero: 1 rows, 2 outputs, -1 sequences",
      description, {1, 2, -1});
  EXPECT_EQ(planned(description, {0, 0, 0}), 0u);
  EXPECT_EQ(planned(description, {1, 0, 0}), 64u);
}

TEST(ScratchPlanErrors, ViewsOfMissingValuesAreRefused) {
  ProgramDescription description = chain(16);
  ASSERT_EQ(description.values.size(), 3u);
  description.values[2].index = 3;
  expect_refused("value 2 shows the bytes of value 3, which does not exist",
                 description, {1, 0, 0});
  description.values[2].index = 2;
  EXPECT_EQ(planned(description, {1, 0, 0}), 64u);
}

TEST(ScratchPlanErrors, TooLargeSizesAreRefused) {
  // A row has 2^32 bytes.
  const ProgramDescription wide = chain(int64_t{1} << 30);
  constexpr int64_t kRows = (int64_t{1} << 32) - 1;
  EXPECT_EQ(planned(wide, {kRows, 0, 0}), UINT64_MAX - UINT32_MAX);
  expect_refused(
      "value 1, F32 [rows, 1073741824], is too large with 4294967296 rows and "
      "7 outputs",
      wide, {kRows + 1, 7, 0});
  // The bytes of one number a row, in whole units of 64.
  ProgramDescription narrow = chain(1);
  for (rc_plugin_value& value : narrow.values) value.rank = 1;
  constexpr int64_t kMost = (int64_t{1} << 62) - 16;
  EXPECT_EQ(planned(narrow, {kMost, 0, 0}), UINT64_MAX - 63);
  expect_refused(
      "value 1, F32 [rows], is too large with 4611686018427387889 rows and 0 "
      "outputs",
      narrow, {kMost + 1, 0, 0});
}

TEST(ScratchPlanErrors, TooLargeSumsOfLiveValuesAreRefused) {
  ProgramBuilder builder;
  const Value x = builder.input(RC_DTYPE_F32, {RC_DIM_ROWS, int64_t{1} << 30});
  const Value y = builder.scale(x, 2);
  const Value z = builder.scale(x, 3);
  builder.add(y, z);
  const ProgramDescription description = std::move(builder).take();
  constexpr int64_t kHalf = int64_t{1} << 31;
  EXPECT_EQ(planned(description, {kHalf - 1, 0, 0}),
            UINT64_MAX - (uint64_t{1} << 33) + 1);
  expect_refused(
      "the scratch memory of a program is beyond what can be addressed",
      description, {kHalf, 0, 0});
}

TEST(ScratchPlanErrors, ReadingUnwrittenValuesIsRefused) {
  ProgramDescription description = chain(16);
  EXPECT_EQ(planned(description, {1, 0, 0}), 64u);
  std::swap(description.ops[0], description.ops[1]);
  expect_refused("SOFTCAP (op 0) reads value 1 before any op has written it",
                 description, {1, 0, 0});
}

}  // namespace
}  // namespace rc::runtime
