// The table of the webgpu backend.
#include <gtest/gtest.h>

#include <algorithm>

#include "base/error.h"
#include "device/module_util.h"
#include "device/program_rules_util.h"
#include "model/model_util.h"

namespace rc::test {
namespace {

constexpr char kLibrary[] = "RUNCIBLE_WEBGPU_LIBRARY";

// Returns the error of the device count of a module that was just loaded.
std::string refusal(const std::string& library) {
  const TemporaryFolder folder;
  const TemporaryVariable given(kLibrary, library);
  const rc_plugin* table = fresh_table(RC_WEBGPU_MODULE, folder);
  if (table == nullptr) return "it is no module";
  int32_t count = -1;
  char message[RC_PLUGIN_MESSAGE_BYTES] = "";
  EXPECT_EQ(table->device_count(&count, message), RC_E_BACKEND_UNAVAILABLE);
  rc_plugin_device* device = nullptr;
  const rc_plugin_open_options options = {
      sizeof options,        0,          0, [](rc_log_level, const char*) {},
      RC_PLUGIN_ABI_VERSION, RC_NUMA_OFF};
  char again[RC_PLUGIN_MESSAGE_BYTES] = "";
  EXPECT_EQ(table->open(0, &options, &device, again), RC_E_BACKEND_UNAVAILABLE);
  EXPECT_EQ(device, nullptr);
  EXPECT_STREQ(again, message);
  return message;
}

TEST(WebgpuPlugin, WithoutAnImplementationIsUnavailable) {
  const std::string message = refusal("/no/libwgpu_native.so");
  EXPECT_NE(message.find(kLibrary), std::string::npos) << message;
  EXPECT_NE(message.find("/no/libwgpu_native.so"), std::string::npos)
      << message;
}

TEST(WebgpuPlugin, LibraryOfAnotherInterfaceIsNamed) {
  // Any library will do that can be loaded.
  const std::string message = refusal(RC_WEBGPU_MODULE);
  EXPECT_NE(message.find("another interface"), std::string::npos) << message;
  EXPECT_NE(message.find(RC_WEBGPU_MODULE), std::string::npos) << message;
  EXPECT_NE(message.find("wgpuCreateInstance"), std::string::npos) << message;
}

TEST(WebgpuPlugin, LibraryIsLoadedOnceItExists) {
  RC_NEEDS_DEVICE("webgpu");
  const TemporaryFolder folder;
  const rc_plugin* table = fresh_table(RC_WEBGPU_MODULE, folder);
  ASSERT_NE(table, nullptr);
  int32_t count = -1;
  char message[RC_PLUGIN_MESSAGE_BYTES] = "";
  {
    const TemporaryVariable none(kLibrary, "/no/libwgpu_native.so");
    EXPECT_EQ(table->device_count(&count, message), RC_E_BACKEND_UNAVAILABLE);
  }
  EXPECT_EQ(table->device_count(&count, message), RC_OK) << message;
  EXPECT_GT(count, 0);
  rc_plugin_device_info info = {};
  info.struct_size = sizeof info;
  for (int32_t index : {-1, count}) {
    EXPECT_EQ(table->device_info(index, &info, message), RC_E_NOT_FOUND);
  }
  ASSERT_EQ(table->device_info(0, &info, message), RC_OK);
  EXPECT_NE(info.name[0], '\0');
  EXPECT_NE(std::string(info.driver).find("WebGPU on "), std::string::npos)
      << info.driver;
}

TEST(WebgpuPlugin, TuningIsChecked) {
  RC_NEEDS_DEVICE("webgpu");
  expect_refused(
      "webgpu", "RUNCIBLE_WEBGPU_TUNING",
      {"tile", "tile=", "tile=-1", "tile=0", "tile=24", "speed=9", "texels=1",
       "parts=99999", "batch=1x", "=4", "tile=128,parts=32"});
  expect_refused("webgpu", "RUNCIBLE_WEBGPU_RANGE", {"much"});
}

TEST(WebgpuPlugin, TooLargeWeightsAreRefused) {
  RC_NEEDS_DEVICE("webgpu");
  // The library's own test of the device, at its first opening, needs more.
  open_device("webgpu");
  const TemporaryVariable range("RUNCIBLE_WEBGPU_RANGE", "1024");
  const auto device = open_device("webgpu");
  try {
    // A tile, of as many rows as there are lanes, is the least.
    device->weight_bytes({"w", RC_DTYPE_F32, {1, 4096}, RC_USE_LINEAR});
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), RC_E_UNSUPPORTED);
    EXPECT_NE(error.message().find("1024"), std::string::npos);
  }
}

// WebGPU moves whole words; others around them stay.
TEST(WebgpuPlugin, UnalignedBytesAreCopied) {
  RC_NEEDS_DEVICE("webgpu");
  const auto device = open_device("webgpu");
  const auto buffer = device->create_buffer(64);
  std::vector<uint8_t> expected(64, 0);
  uint8_t next = 1;
  for (const auto& [offset, bytes] : {std::pair<uint64_t, uint64_t>{0, 64},
                                      {1, 1},
                                      {5, 2},
                                      {7, 3},
                                      {13, 10},
                                      {61, 3},
                                      {32, 4}}) {
    std::vector<uint8_t> data(bytes);
    for (uint8_t& byte : data) byte = next++;
    buffer->upload(offset, data.data(), bytes);
    std::copy(data.begin(), data.end(), expected.begin() + offset);
    std::vector<uint8_t> all(64);
    buffer->download(0, all.data(), all.size());
    ASSERT_EQ(all, expected) << offset << " " << bytes;
    std::vector<uint8_t> part(bytes);
    buffer->download(offset, part.data(), bytes);
    ASSERT_EQ(part, data) << offset << " " << bytes;
  }
}

TEST(WebgpuPlugin, ProgramsAreChecked) {
  RC_NEEDS_DEVICE("webgpu");
  expect_programs_are_checked("webgpu");
}

}  // namespace
}  // namespace rc::test
