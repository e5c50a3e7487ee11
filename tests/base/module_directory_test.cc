#include "base/module_directory.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>

namespace rc {
namespace {

std::filesystem::path program() {
  return std::filesystem::canonical("/proc/self/exe");
}

TEST(ModuleDirectory, IsThatOfTheProgram) {
  EXPECT_EQ(module_directory(), program().parent_path());
}

// Runs this program's test above under another name, in another folder.
TEST(ModuleDirectory, DoesNotDependOnTheNameOfTheProgram) {
  for (const char* name : {"bare", "./relative", "/made/up", ""}) {
    const std::string path = program().string();
    const pid_t child = fork();
    if (child == 0) {
      if (chdir("/") != 0) _exit(126);
      execl(path.c_str(), name, "--gtest_filter=ModuleDirectory.Is*",
            "--gtest_brief=1", nullptr);
      _exit(127);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << name;
  }
}

}  // namespace
}  // namespace rc
