// The table of the vulkan backend.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "model/model_util.h"
#include "runtime/registry.h"
#include "test_data.h"
#include "vulkan/vulkan_util.h"

namespace rc::test {
namespace {

// A copy of the module is another module to the system: nothing of it has been
// loaded or found yet.
const rc_plugin* fresh_table(const Folder& folder) {
  const auto copy = folder.path() / "copy.so";
  std::filesystem::copy_file(RC_VULKAN_MODULE, copy);
  void* module = dlopen(copy.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (module == nullptr) return nullptr;
  auto* entry = reinterpret_cast<const rc_plugin* (*)()>(
      dlsym(module, "rc_plugin_entry"));
  return entry == nullptr ? nullptr : entry();
}

TEST(VulkanPlugin, WithoutADriverItSaysSoAndTriesAgain) {
  const Folder folder;
  const rc_plugin* table = fresh_table(folder);
  ASSERT_NE(table, nullptr);
  int32_t count = -1;
  char message[RC_PLUGIN_MESSAGE_BYTES] = "";
  {
    const Variable none("VK_ICD_FILENAMES", "/no/driver.json");
    const Variable none_either("VK_DRIVER_FILES", "/no/driver.json");
    EXPECT_EQ(table->device_count(&count, message), RC_E_BACKEND_UNAVAILABLE);
    EXPECT_NE(message[0], '\0');
    rc_plugin_device* device = nullptr;
    const rc_plugin_open_options options = {sizeof options, 0, 0,
                                            [](rc_log_level, const char*) {}};
    EXPECT_EQ(table->open(0, &options, &device, message),
              RC_E_BACKEND_UNAVAILABLE);
    EXPECT_EQ(device, nullptr);
  }
  RC_NEEDS_VULKAN();
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
  RC_NEEDS_VULKAN();
  for (const char* text :
       {"tile", "tile=", "tile=-1", "tile=0", "texels=0,tile=24", "speed=9",
        "texels=1,tile=16", "parts=99999", "batch=1x", "=4",
        "texels=0,tile=128,parts=32"}) {
    const Variable tuning("RUNCIBLE_VULKAN_TUNING", text);
    try {
      open_device("vulkan");
      ADD_FAILURE() << text;
    } catch (const Error& error) {
      EXPECT_NE(error.message().find("RUNCIBLE_VULKAN_TUNING"),
                std::string::npos)
          << error.message();
    }
  }
  const Variable range("RUNCIBLE_VULKAN_RANGE", "much");
  EXPECT_THROW(open_device("vulkan"), Error);
}

TEST(VulkanPlugin, WhatCannotBeBoundIsRefused) {
  RC_NEEDS_VULKAN();
  // The library's own test of the device, at its first opening, needs more.
  open_device("vulkan");
  const Variable range("RUNCIBLE_VULKAN_RANGE", "1024");
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

TEST(VulkanPlugin, TimesOfOpsAreInOrder) {
  RC_NEEDS_VULKAN();
  runtime::Selection selection;
  selection.spec = "vulkan";
  selection.device.profile = true;
  const auto device = runtime::select(selection).device;
  const auto file =
      model::ModelFile::open(source_path("examples/model/fable.gguf"));
  const auto resident = model::ResidentModel::load(
      file, model::place(*file, options_of({}), device), options_of({}), {});
  evaluate(*resident, {1, 2, 3});
  std::vector<rc_plugin_op_time> times(4096);
  size_t count = 0;
  char message[RC_PLUGIN_MESSAGE_BYTES] = "";
  ASSERT_EQ(device->plugin().op_times(device->handle(), times.data(),
                                      times.size(), &count, message),
            RC_OK)
      << message;
  ASSERT_GT(count, 10u);
  ASSERT_LE(count, times.size());
  for (size_t i = 0; i < count; ++i) {
    EXPECT_EQ(times[i].op, static_cast<int32_t>(i));
    EXPECT_LE(times[i].begin_ns, times[i].end_ns);
  }
  EXPECT_LT(times[0].begin_ns, times[count - 1].end_ns);
  // No more are written than there is room for.
  times[1].op = -7;
  ASSERT_EQ(device->plugin().op_times(device->handle(), times.data(), 1, &count,
                                      message),
            RC_OK);
  EXPECT_EQ(times[1].op, -7);
}

}  // namespace
}  // namespace rc::test
