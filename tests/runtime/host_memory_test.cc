#include "runtime/host_memory.h"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <numeric>

namespace rc::runtime {
namespace {

using MessageBytes = std::array<char, RC_PLUGIN_MESSAGE_BYTES>;

rc_plugin_weight_info matrix(rc_dtype dtype, int64_t rows, int64_t columns) {
  rc_plugin_weight_info info = {};
  info.name = "w";
  info.dtype = dtype;
  info.rank = 2;
  info.shape[0] = rows;
  info.shape[1] = columns;
  return info;
}

class HostMemory : public testing::Test {
 protected:
  void SetUp() override { complete_with_host_memory(plugin_); }
  rc_plugin plugin_ = {};
  MessageBytes message_ = {};
};

TEST_F(HostMemory, WeightIsTheAddressOfItsBytes) {
  const rc_plugin_weight_info info = matrix(RC_DTYPE_Q8_0, 3, 64);
  uint64_t bytes = 0;
  ASSERT_EQ(plugin_.weight_bytes(nullptr, &info, &bytes, message_.data()),
            RC_OK);
  ASSERT_EQ(bytes, 3u * 2 * 34);
  std::vector<unsigned char> data(bytes);
  std::iota(data.begin(), data.end(), 0);
  rc_plugin_weight* weight = nullptr;
  ASSERT_EQ(plugin_.create_weight(nullptr, &info, data.data(), &weight,
                                  message_.data()),
            RC_OK);
  EXPECT_EQ(std::memcmp(weight, data.data(), bytes), 0);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(weight) % 64, 0u);
  plugin_.destroy_weight(nullptr, weight);
}

TEST(CompleteWithHostMemory, SkipsPluginsThatMapWeights) {
  rc_plugin plugin = {};
  plugin.map_weight = [](rc_plugin_device*, const rc_plugin_weight_info*,
                         const void*, rc_plugin_weight**,
                         char*) -> rc_status { return RC_OK; };
  complete_with_host_memory(plugin);
  EXPECT_EQ(plugin.create_weight, nullptr);
}

TEST_F(HostMemory, BufferIsZeroInitially) {
  rc_plugin_buffer* buffer = nullptr;
  ASSERT_EQ(plugin_.create_buffer(nullptr, 100, &buffer, message_.data()),
            RC_OK);
  const char text[] = "text";
  ASSERT_EQ(plugin_.upload(nullptr, buffer, 96, text, 4, message_.data()),
            RC_OK);
  char got[100];
  ASSERT_EQ(plugin_.download(nullptr, buffer, 0, got, 100, message_.data()),
            RC_OK);
  EXPECT_EQ(std::string(got, 96), std::string(96, '\0'));
  EXPECT_EQ(std::string(got + 96, 4), "text");
  plugin_.destroy_buffer(nullptr, buffer);
  ASSERT_EQ(plugin_.create_buffer(nullptr, 0, &buffer, message_.data()), RC_OK);
  EXPECT_NE(buffer, nullptr);
  plugin_.destroy_buffer(nullptr, buffer);
}

TEST_F(HostMemory, TooLargeSizesAreReported) {
  rc_plugin_buffer* buffer = nullptr;
  EXPECT_EQ(
      plugin_.create_buffer(nullptr, UINT64_MAX - 8, &buffer, message_.data()),
      RC_E_OUT_OF_MEMORY);
  EXPECT_NE(message_[0], '\0');
  const rc_plugin_weight_info huge = matrix(RC_DTYPE_F32, INT64_MAX, INT64_MAX);
  uint64_t bytes = 0;
  EXPECT_EQ(plugin_.weight_bytes(nullptr, &huge, &bytes, message_.data()),
            RC_E_INVALID_ARGUMENT);
}

TEST(HostMemoryOfAPlugin, PluginWithMemoryFunctionsIsNotCompleted) {
  rc_plugin plugin = {};
  plugin.upload = [](rc_plugin_device*, rc_plugin_buffer*, uint64_t,
                     const void*, uint64_t,
                     char*) -> rc_status { return RC_OK; };
  complete_with_host_memory(plugin);
  EXPECT_EQ(plugin.download, nullptr);
  EXPECT_EQ(plugin.create_weight, nullptr);
}

}  // namespace
}  // namespace rc::runtime
