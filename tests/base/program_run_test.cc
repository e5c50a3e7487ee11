#include "base/program_run.h"

#include <gtest/gtest.h>

namespace rc {
namespace {

TEST(ProgramRun, ReturnsTheOutputOfTheProgram) {
  // More than a pipe holds.
  const std::string input(1 << 20, 'x');
  const auto run = run_program("cat", {}, input);
  ASSERT_TRUE(run.has_value());
  EXPECT_TRUE(run->succeeded);
  EXPECT_EQ(run->output, input);
  EXPECT_EQ(run->errors, "");
}

TEST(ProgramRun, ReportsFailures) {
  const auto run = run_program("sh", {"-c", "echo no >&2; exit 3"}, "");
  ASSERT_TRUE(run.has_value());
  EXPECT_FALSE(run->succeeded);
  EXPECT_EQ(run->output, "");
  EXPECT_EQ(run->errors, "no\n");
}

TEST(ProgramRun, MissingProgramDoesNotSucceed) {
  const auto run = run_program("there-is-no-such-program", {}, "");
  EXPECT_TRUE(!run.has_value() || !run->succeeded);
}

}  // namespace
}  // namespace rc
