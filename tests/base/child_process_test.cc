#include "base/child_process.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <filesystem>
#include <fstream>

#include "temporary.h"

namespace rc {
namespace {

// All that the child writes.
std::string output_of(const ChildProcess& child) {
  std::string text;
  while (child.read(std::chrono::seconds(10), text) !=
         ChildProcess::Reading::kEnd) {
  }
  return text;
}

TEST(ChildProcess, ReturnsItsOutputAndExitStatus) {
  ChildProcess child("/bin/echo", "a word");
  ASSERT_EQ(child.error(), 0);
  EXPECT_TRUE(child.has_pipe());
  EXPECT_EQ(output_of(child), "a word\n");
  EXPECT_EQ(child.end(), "exit code 0");
}

TEST(ChildProcess, ReportsTheSignalThatEndedIt) {
  const test::TemporaryFolder folder;
  const std::string script = (folder.path() / "script").string();
  std::ofstream(script) << "kill -SEGV $$\n";
  ChildProcess child("/bin/sh", script);
  ASSERT_EQ(child.error(), 0);
  EXPECT_EQ(output_of(child), "");
  EXPECT_EQ(child.end().substr(0, 10), "signal 11,");
}

TEST(ChildProcess, IsReadForALimitedTime) {
  ChildProcess child("/bin/sleep", "1000");
  ASSERT_EQ(child.error(), 0);
  std::string text;
  EXPECT_EQ(child.read(std::chrono::milliseconds(1), text),
            ChildProcess::Reading::kNothing);
}  // which ends it

TEST(ChildProcess, MissingProgramIsAnError) {
  const ChildProcess child("/there/is/no/program", "");
  EXPECT_EQ(child.error(), ENOENT);
  EXPECT_TRUE(child.has_pipe());
}

}  // namespace
}  // namespace rc
