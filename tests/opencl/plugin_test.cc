// The table of the opencl backend.
#include <gtest/gtest.h>

#include "device/module_util.h"
#include "device/program_rules_util.h"

namespace rc::test {
namespace {

TEST(OpenclPlugin, WithoutALoaderItSaysSoAndTriesAgain) {
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
       "lanes=16,tile=8", "speed=9", "batch=99999", "batch=1x", "=4"});
}

TEST(OpenclPlugin, ProgramsAreChecked) {
  RC_NEEDS_DEVICE("opencl");
  expect_programs_are_checked("opencl");
}

TEST(OpenclPlugin, TimesOfOpsAreInOrder) {
  RC_NEEDS_DEVICE("opencl");
  expect_times_of_ops("opencl");
}

}  // namespace
}  // namespace rc::test
