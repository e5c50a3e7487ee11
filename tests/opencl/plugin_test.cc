// The table of the opencl backend.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdio>
#include <filesystem>
#include <fstream>

#include "device/module_util.h"
#include "device/program_rules_util.h"
#include "opencl/pocl.h"

namespace rc::test {
namespace {

TEST(OpenclPlugin, WithoutALoaderIsUnavailableAndTriesAgain) {
  const TemporaryFolder folder;
  const rc_plugin* table = fresh_table(RC_OPENCL_MODULE, folder);
  ASSERT_NE(table, nullptr);
  int32_t count = -1;
  char message[RC_PLUGIN_MESSAGE_BYTES] = "";
  {
    const TemporaryVariable missing("RUNCIBLE_OPENCL_LIBRARY",
                                    "/no/libOpenCL.so.1");
    EXPECT_EQ(table->device_count(&count, message), RC_E_BACKEND_UNAVAILABLE);
    EXPECT_NE(std::string(message).find("/no/libOpenCL.so.1"),
              std::string::npos)
        << message;
    rc_plugin_device* device = nullptr;
    const rc_plugin_open_options options = {
        sizeof options,        0,          0, [](rc_log_level, const char*) {},
        RC_PLUGIN_ABI_VERSION, RC_NUMA_OFF};
    EXPECT_EQ(table->open(0, &options, &device, message),
              RC_E_BACKEND_UNAVAILABLE);
    EXPECT_EQ(device, nullptr);
  }
  {
    // A library, but none of OpenCL.
    const TemporaryVariable other("RUNCIBLE_OPENCL_LIBRARY", "libm.so.6");
    EXPECT_EQ(table->device_count(&count, message), RC_E_BACKEND_UNAVAILABLE);
    EXPECT_NE(std::string(message).find("clGetPlatformIDs"), std::string::npos)
        << message;
  }
  RC_NEEDS_DEVICE("opencl");
  EXPECT_EQ(table->device_count(&count, message), RC_OK) << message;
  EXPECT_GT(count, 0);
}

// Runs the command; gives its exit status and what it prints.
int command(const std::string& arguments, std::string& text) {
  FILE* output =
      popen(("'" RC_COMMAND "' " + arguments + " 2>&1").c_str(), "r");
  if (output == nullptr) return -1;
  text.clear();
  for (int c; (c = std::fgetc(output)) != EOF;) text += static_cast<char>(c);
  const int status = pclose(output);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

// Where PoCL is the only platform; another one has devices all the same.
TEST(OpenclPlugin, PoclWithoutALinkerIsNotUsed) {
  RC_NEEDS_DEVICE("opencl");
  const TemporaryFolder folder;
  const rc_plugin* table = fresh_table(RC_OPENCL_MODULE, folder);
  ASSERT_NE(table, nullptr);
  int32_t count = 0;
  char message[RC_PLUGIN_MESSAGE_BYTES] = "";
  const TemporaryVariable no_path("PATH", folder.path().string());
  const TemporaryVariable no_more("COMPILER_PATH", "");
  if (table->device_count(&count, message) == RC_OK) {
    GTEST_SKIP() << "there is a platform that does without";
  }
  for (const char* text : {"linker (ld)", "PATH", "binutils"}) {
    EXPECT_NE(std::string(message).find(text), std::string::npos) << message;
  }
  // As a program encounters it, with nothing compiled before: without this
  // check a signal would end it, which the shell reports as 128 and more.
  const TemporaryVariable cache("XDG_CACHE_HOME", folder.path().string());
  const TemporaryVariable modules(
      "RUNCIBLE_PLUGIN_PATH",
      std::filesystem::path(RC_OPENCL_MODULE).parent_path().string());
  std::string text;
  EXPECT_LT(command("devices --self-test opencl", text), 126) << text;
  EXPECT_EQ(command("devices", text), 0) << text;
  EXPECT_NE(text.find("binutils"), std::string::npos) << text;
}

TEST(OpenclPlugin, LinkerOfPoclIsSearchedInPath) {
  const TemporaryFolder folder;
  const std::string path = folder.path().string();
  const auto ld = folder.path() / "ld";
  EXPECT_FALSE(opencl::has_linker(""));
  EXPECT_FALSE(opencl::has_linker(":::"));
  EXPECT_FALSE(opencl::has_linker("/no/such/folder:" + path));
  std::ofstream(ld) << "#!/bin/sh\n";
  EXPECT_FALSE(opencl::has_linker(path)) << "it cannot be run";
  std::filesystem::permissions(ld, std::filesystem::perms::owner_all);
  EXPECT_TRUE(opencl::has_linker(path));
  EXPECT_TRUE(opencl::has_linker("/no/such/folder::" + path + ":"));
}

TEST(OpenclPlugin, OnlySomeVersionsOfPoclExitWithoutALinker) {
  const std::string pocl = "Portable Computing Language";
  const auto ends = [&](const char* version) {
    return opencl::ends_without_linker(pocl, version);
  };
  EXPECT_TRUE(ends("OpenCL 3.0 PoCL 3.1+debian  Linux, None+Asserts, RELOC"));
  EXPECT_TRUE(ends("OpenCL 1.2 pocl 1.1 None+Asserts, LLVM 6.0.0"));
  EXPECT_TRUE(ends("OpenCL 3.0 PoCL 6.0  Linux, Release, RELOC"));
  EXPECT_FALSE(ends("OpenCL 3.0 PoCL 7.0  Linux, Release, RELOC"));
  EXPECT_FALSE(ends("OpenCL 3.0 PoCL 10.2"));
  EXPECT_FALSE(ends("OpenCL 3.0 PoCL"));
  EXPECT_FALSE(ends(""));
  EXPECT_FALSE(
      opencl::ends_without_linker("NVIDIA CUDA", "OpenCL 3.0 PoCL 3.1"));
}

TEST(OpenclPlugin, DevicesThatDoNotExistAreNotFound) {
  RC_NEEDS_DEVICE("opencl");
  const TemporaryFolder folder;
  const rc_plugin* table = fresh_table(RC_OPENCL_MODULE, folder);
  ASSERT_NE(table, nullptr);
  int32_t count = 0;
  char message[RC_PLUGIN_MESSAGE_BYTES] = "";
  ASSERT_EQ(table->device_count(&count, message), RC_OK);
  rc_plugin_device_info info = {};
  info.struct_size = sizeof info;
  for (int32_t index : {-1, count}) {
    EXPECT_EQ(table->device_info(index, &info, message), RC_E_NOT_FOUND);
  }
}

TEST(OpenclPlugin, TuningIsChecked) {
  RC_NEEDS_DEVICE("opencl");
  expect_refused(
      "opencl", "RUNCIBLE_OPENCL_TUNING",
      {"batch", "batch=", "batch=-1", "batch=0", "batch=3", "lanes=2",
       "lanes=16,tile=8", "matrices=1,tile=48", "matrices=1,tile=256",
       "speed=9", "batch=99999", "batch=1x", "=4"});
}

TEST(OpenclPlugin, ProgramsAreChecked) {
  RC_NEEDS_DEVICE("opencl");
  expect_programs_are_checked("opencl");
}

TEST(OpenclPlugin, TimesOfOpsAreOrdered) {
  RC_NEEDS_DEVICE("opencl");
  expect_times_of_ops("opencl");
}

}  // namespace
}  // namespace rc::test
