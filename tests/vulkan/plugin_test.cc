// The table of the vulkan backend.
#include <gtest/gtest.h>

#include "base/error.h"
#include "device/module_util.h"
#include "device/program_rules_util.h"
#include "model/model_util.h"
#include "runtime/registry.h"

namespace rc::test {
namespace {

TEST(VulkanPlugin, WithoutADriverIsUnavailableAndTriesAgain) {
  const TemporaryFolder folder;
  const rc_plugin* table = fresh_table(RC_VULKAN_MODULE, folder);
  ASSERT_NE(table, nullptr);
  int32_t count = -1;
  char message[RC_PLUGIN_MESSAGE_BYTES] = "";
  {
    const TemporaryVariable none("VK_ICD_FILENAMES", "/no/driver.json");
    const TemporaryVariable none_either("VK_DRIVER_FILES", "/no/driver.json");
    EXPECT_EQ(table->device_count(&count, message), RC_E_BACKEND_UNAVAILABLE);
    EXPECT_NE(message[0], '\0');
    rc_plugin_device* device = nullptr;
    const rc_plugin_open_options options = {
        sizeof options,        0,          0, [](rc_log_level, const char*) {},
        RC_PLUGIN_ABI_VERSION, RC_NUMA_OFF};
    EXPECT_EQ(table->open(0, &options, &device, message),
              RC_E_BACKEND_UNAVAILABLE);
    EXPECT_EQ(device, nullptr);
  }
  RC_NEEDS_DEVICE("vulkan");
  EXPECT_EQ(table->device_count(&count, message), RC_OK) << message;
  EXPECT_GT(count, 0);
  rc_plugin_device_info info = {};
  info.struct_size = sizeof info;
  for (int32_t index : {-1, count}) {
    EXPECT_EQ(table->device_info(index, &info, message), RC_E_NOT_FOUND);
  }
  ASSERT_EQ(table->device_info(0, &info, message), RC_OK);
  const std::string id = info.physical_id;
  EXPECT_TRUE(id.starts_with("pci:") ||
              (id.starts_with("uuid:") && id.size() == 5 + 32))
      << id;
}

TEST(VulkanPlugin, TuningIsChecked) {
  RC_NEEDS_DEVICE("vulkan");
  expect_refused("vulkan", "RUNCIBLE_VULKAN_TUNING",
                 {"tile", "tile=", "tile=-1", "tile=0", "texels=0,tile=24",
                  "speed=9", "texels=1,tile=16", "parts=99999", "batch=1x",
                  "=4", "texels=0,tile=128,parts=32", "texels=1,many=8",
                  "texels=1,matrices=64"});
  expect_refused("vulkan", "RUNCIBLE_VULKAN_RANGE", {"much"});
}

TEST(VulkanPlugin, TooLargeWeightsAreRefused) {
  RC_NEEDS_DEVICE("vulkan");
  // The library's own test of the device, at its first opening, needs more.
  open_device("vulkan");
  const TemporaryVariable range("RUNCIBLE_VULKAN_RANGE", "1024");
  const auto device = open_device("vulkan");
  const auto bytes = [&](std::vector<int64_t> shape) {
    return device->weight_bytes(
        {"w", RC_DTYPE_F32, std::move(shape), RC_USE_LINEAR});
  };
  // A tile, of as many rows as there are lanes, is the least.
  try {
    bytes({1, 4096});
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), RC_E_UNSUPPORTED);
    EXPECT_NE(error.message().find("1024"), std::string::npos);
  }
}

TEST(VulkanPlugin, ProgramsAreChecked) {
  RC_NEEDS_DEVICE("vulkan");
  expect_programs_are_checked("vulkan");
}

TEST(VulkanPlugin, TimesOfOpsAreOrdered) {
  RC_NEEDS_DEVICE("vulkan");
  expect_times_of_ops("vulkan");
}

}  // namespace
}  // namespace rc::test
