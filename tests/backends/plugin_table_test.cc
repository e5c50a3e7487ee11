// The table of a backend that is written as classes.
#include "common/plugin_table.h"

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <new>
#include <string>
#include <vector>

namespace rc {
namespace {

using Bytes = std::vector<unsigned char>;

// Does nothing but what a test asks of it.
struct FakeDevice {
  bool over = true;
  bool started = false;

  void check_supported(const Op&, std::span<const rc_plugin_value>) const {
    fail(RC_E_UNSUPPORTED, "no op at all");
  }
  uint64_t weight_bytes(const rc_plugin_weight_info&) const {
    throw std::bad_alloc();
  }
  std::unique_ptr<int> create_weight(const rc_plugin_weight_info&,
                                     const void*) const {
    throw std::runtime_error("a weight of clay");
  }
  std::unique_ptr<Bytes> create_buffer(uint64_t bytes) const {
    return std::make_unique<Bytes>(bytes);
  }
  void upload(Bytes& buffer, uint64_t offset, const void* data,
              uint64_t bytes) const {
    std::memcpy(buffer.data() + offset, data, bytes);
  }
  void download(const Bytes& buffer, uint64_t offset, void* data,
                uint64_t bytes) const {
    std::memcpy(data, buffer.data() + offset, bytes);
  }
  std::unique_ptr<int> compile(const plugin::GivenProgram&) const {
    return std::make_unique<int>(1);
  }
  void destroy(std::unique_ptr<int>) const {}
  void start(int&, const rc_plugin_run&) { started = true; }
  bool wait(int64_t) const { return over; }
};

struct FakeBackend {
  static constexpr const char* kName = "fake";
  static constexpr const char* kDescription = "of a test";
  using Device = FakeDevice;
  using Weight = int;
  using Buffer = Bytes;
  using Program = int;

  static int32_t count() {
    fail(RC_E_BACKEND_UNAVAILABLE, "there is no driver");
  }
  static rc_plugin_device_info describe(int32_t) {
    rc_plugin_device_info info = {};
    info.cores = 7;
    return info;
  }
  static std::unique_ptr<Device> open(int32_t, const rc_plugin_open_options&) {
    return std::make_unique<Device>();
  }
  static uint64_t bytes(const Buffer& buffer) { return buffer.size(); }
};

// As a backend that can do more.
struct ManySided : FakeBackend {
  struct Device : FakeDevice {
    std::unique_ptr<int> map_weight(const rc_plugin_weight_info&,
                                    const void*) const {
      return std::make_unique<int>(2);
    }
    void copy(Bytes&, uint64_t, Bytes&, uint64_t, uint64_t) const {}
    std::span<const rc_plugin_op_time> op_times() const { return {}; }
  };
  static std::unique_ptr<Device> open(int32_t, const rc_plugin_open_options&) {
    return std::make_unique<Device>();
  }
};

constexpr rc_plugin kFake = plugin::PluginTable<FakeBackend>::table();
constexpr rc_plugin kManySided = plugin::PluginTable<ManySided>::table();

class PluginTable : public testing::Test {
 protected:
  PluginTable() {
    const rc_plugin_open_options options = {};
    EXPECT_EQ(kFake.open(0, &options, &device_, message_), RC_OK);
  }
  ~PluginTable() override { kFake.close(device_); }

  FakeDevice& device() { return *reinterpret_cast<FakeDevice*>(device_); }

  rc_plugin_device* device_ = nullptr;
  char message_[RC_PLUGIN_MESSAGE_BYTES] = "";
};

TEST_F(PluginTable, HasTheFunctionsOfTheDevice) {
  EXPECT_EQ(kFake.struct_size, sizeof(rc_plugin));
  EXPECT_STREQ(kFake.name, "fake");
  EXPECT_EQ(kFake.map_weight, nullptr);
  EXPECT_EQ(kFake.run_op, nullptr);
  EXPECT_EQ(kFake.run_with, nullptr);
  EXPECT_EQ(kFake.copy, nullptr);
  EXPECT_EQ(kFake.op_time, nullptr);
  EXPECT_NE(kManySided.map_weight, nullptr);
  EXPECT_NE(kManySided.copy, nullptr);
  EXPECT_NE(kManySided.op_time, nullptr);
}

TEST_F(PluginTable, TurnsExceptionsIntoStatuses) {
  int32_t count = 5;
  EXPECT_EQ(kFake.device_count(&count, message_), RC_E_BACKEND_UNAVAILABLE);
  EXPECT_STREQ(message_, "there is no driver");
  EXPECT_EQ(count, 0);
  const rc_plugin_weight_info info = {};
  uint64_t bytes = 0;
  EXPECT_EQ(kFake.weight_bytes(device_, &info, &bytes, message_),
            RC_E_OUT_OF_MEMORY);
  auto* weight = reinterpret_cast<rc_plugin_weight*>(&bytes);
  EXPECT_EQ(kFake.create_weight(device_, &info, &bytes, &weight, message_),
            RC_E_INTERNAL);
  EXPECT_STREQ(message_, "a weight of clay");
  EXPECT_EQ(weight, nullptr);
}

TEST_F(PluginTable, RefusesNullPointers) {
  EXPECT_EQ(kFake.device_info(0, nullptr, message_), RC_E_INVALID_ARGUMENT);
  EXPECT_STREQ(message_, "info is NULL");
  rc_plugin_device* opened = nullptr;
  EXPECT_EQ(kFake.open(0, nullptr, &opened, message_), RC_E_INVALID_ARGUMENT);
  EXPECT_EQ(kFake.create_buffer(device_, 8, nullptr, message_),
            RC_E_INVALID_ARGUMENT);
  EXPECT_EQ(kFake.upload(device_, nullptr, 0, "", 0, message_),
            RC_E_INVALID_ARGUMENT);
  EXPECT_STREQ(message_, "buffer is NULL");
  rc_plugin_run run = {};
  EXPECT_EQ(kFake.run(device_, nullptr, &run, message_), RC_E_INVALID_ARGUMENT);
  EXPECT_FALSE(device().started);
}

TEST_F(PluginTable, RefusesRangesOutsideOfBuffers) {
  rc_plugin_buffer* buffer = nullptr;
  ASSERT_EQ(kFake.create_buffer(device_, 4, &buffer, message_), RC_OK);
  EXPECT_EQ(kFake.upload(device_, buffer, 1, "abc", 3, message_), RC_OK);
  char read[4] = "";
  EXPECT_EQ(kFake.download(device_, buffer, 1, read, 3, message_), RC_OK);
  EXPECT_STREQ(read, "abc");
  EXPECT_EQ(kFake.upload(device_, buffer, 2, "abc", 3, message_),
            RC_E_INVALID_ARGUMENT);
  EXPECT_EQ(kFake.download(device_, buffer, UINT64_MAX, read, 2, message_),
            RC_E_INVALID_ARGUMENT);
  // Nothing needs no place.
  EXPECT_EQ(kFake.upload(device_, buffer, 4, nullptr, 0, message_), RC_OK);
  kFake.destroy_buffer(device_, buffer);
}

TEST_F(PluginTable, ReportsATimeoutWhileARunIsUnfinished) {
  EXPECT_EQ(kFake.wait(device_, 5, message_), RC_OK);
  device().over = false;
  EXPECT_EQ(kFake.wait(device_, 5, message_), RC_E_TIMEOUT);
  EXPECT_STREQ(message_, "the run is not over after 5 ms");
}

}  // namespace
}  // namespace rc
