#include "base/environment.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "base/error.h"

namespace rc {
namespace {

constexpr const char* kName = "RUNCIBLE_TEST_OF_THE_ENVIRONMENT";

class EnvironmentTest : public testing::Test {
 protected:
  void TearDown() override { unsetenv(kName); }
};

TEST_F(EnvironmentTest, EmptyCountsAsAbsent) {
  EXPECT_EQ(environment(kName), std::nullopt);
  setenv(kName, "", 1);
  EXPECT_EQ(environment(kName), std::nullopt);
  EXPECT_EQ(environment_integer(kName, 1, 2), std::nullopt);
  setenv(kName, "x y", 1);
  EXPECT_EQ(environment(kName), "x y");
}

TEST_F(EnvironmentTest, ReadsIntegersWithinLimits) {
  setenv(kName, "-5", 1);
  EXPECT_EQ(environment_integer(kName, -5, 5), -5);
  setenv(kName, "5", 1);
  EXPECT_EQ(environment_integer(kName, -5, 5), 5);
}

TEST_F(EnvironmentTest, NamesVariableValueAndLimits) {
  for (const char* value : {"6", "-6", "x", "1x", " 1", "1.5", "+1", "0x1",
                            "99999999999999999999999"}) {
    setenv(kName, value, 1);
    try {
      environment_integer(kName, -5, 5);
      ADD_FAILURE() << "accepted " << value;
    } catch (const Error& error) {
      EXPECT_EQ(error.status(), RC_E_INVALID_ARGUMENT);
      EXPECT_EQ(error.message(), std::string("the environment variable ") +
                                     kName + " is \"" + value +
                                     "\"; it must be a number from -5 to 5");
    }
  }
}

}  // namespace
}  // namespace rc
