#include "base/environment.h"

#include <gtest/gtest.h>

#include <cstdlib>

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
  setenv(kName, "x y", 1);
  EXPECT_EQ(environment(kName), "x y");
}

TEST_F(EnvironmentTest, RelativeFolderCountsAsAbsent) {
  EXPECT_EQ(environment_folder(kName), std::nullopt);
  for (const char* relative : {"", "x", "./x", "../x", "~/x", ".", " /x"}) {
    setenv(kName, relative, 1);
    EXPECT_EQ(environment_folder(kName), std::nullopt) << relative;
  }
  setenv(kName, "/x/y", 1);
  EXPECT_EQ(environment_folder(kName), "/x/y");
}

TEST_F(EnvironmentTest, UnmodifiedValueDistinguishesEmptyFromAbsent) {
  EXPECT_EQ(environment_as_it_is(kName), std::nullopt);
  setenv(kName, "", 1);
  EXPECT_EQ(environment_as_it_is(kName), "");
  setenv(kName, "x", 1);
  EXPECT_EQ(environment_as_it_is(kName), "x");
}

}  // namespace
}  // namespace rc
