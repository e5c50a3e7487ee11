// Devices of plugins that fail, lie, throw and hang.
#include "runtime/device.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "base/error.h"
#include "expect_error.h"
#include "fake_plugin.h"
#include "runtime/closing.h"
#include "runtime/plugin_list.h"
#include "runtime/program.h"

namespace rc::runtime {
namespace {

using test::error_of;
using test::FakePlugin;
using test::FakeState;

class DeviceTest : public testing::Test {
 protected:
  DeviceTest() { device_ = Device::open(plugin().table, 0, {}); }
  ~DeviceTest() override {
    device_.reset();
    state() = {};
  }
  // One plugin for all tests, reset for each.
  static FakePlugin& plugin() {
    static auto* plugin = new FakePlugin(test::make_fake_plugin("fake"));
    plugin->state.devices.resize(1);
    return *plugin;
  }
  static FakeState& state() { return plugin().state; }

  std::unique_ptr<Program> program() {
    ProgramBuilder builder;
    const Value x = builder.input(RC_DTYPE_F32, {RC_DIM_ROWS, 2});
    builder.output(builder.softcap(builder.scale(x, 2), 3));
    return Program::compile(device_, std::move(builder).take(), {4, 0, 0}, {},
                            {});
  }
  static WeightInfo weight() {
    return {"layer.weight", RC_DTYPE_F32, {2, 2}, RC_USE_LINEAR};
  }

  std::shared_ptr<Device> device_;
  const float data_[4] = {};
};

TEST_F(DeviceTest, FailuresNameDeviceOperationAndReason) {
  state().status = RC_E_DEVICE_MEMORY;
  Error error = error_of([&] { device_->create_weight(weight(), data_); });
  EXPECT_EQ(error.status(), RC_E_DEVICE_MEMORY);
  EXPECT_EQ(error.message(),
            "fake:0: cannot create weight layer.weight: fake failure -10");
  EXPECT_EQ(error_of([&] { device_->create_buffer(64); }).status(),
            RC_E_DEVICE_MEMORY);
  EXPECT_EQ(error_of([&] { device_->weight_bytes(weight()); }).status(),
            RC_E_DEVICE_MEMORY);
  EXPECT_EQ(error_of([&] { program(); }).status(), RC_E_DEVICE_MEMORY);
  state().status = RC_OK;
  EXPECT_EQ(device_->weight_bytes(weight()), 4096u);
}

TEST_F(DeviceTest, RefusesWeightsOfImpossibleRank) {
  WeightInfo info = weight();
  info.shape = {};
  EXPECT_EQ(error_of([&] { device_->weight_bytes(info); }).status(),
            RC_E_INVALID_ARGUMENT);
  info.shape = {1, 1, 1, 1, 1};
  EXPECT_EQ(error_of([&] { device_->create_weight(info, data_); }).status(),
            RC_E_INVALID_ARGUMENT);
}

TEST_F(DeviceTest, SuccessWithoutAHandleIsADeviceError) {
  state().null_handles = true;
  EXPECT_EQ(error_of([&] { device_->create_weight(weight(), data_); }).status(),
            RC_E_DEVICE);
  EXPECT_EQ(error_of([&] { device_->create_buffer(64); }).status(),
            RC_E_DEVICE);
  EXPECT_EQ(error_of([&] { program(); }).status(), RC_E_DEVICE);
}

TEST_F(DeviceTest, HandlesOfFailuresAreNotReleased) {
  state().status = RC_E_DEVICE;
  state().write_handles_on_failure = true;
  EXPECT_EQ(error_of([&] { device_->create_weight(weight(), data_); }).status(),
            RC_E_DEVICE);
  EXPECT_EQ(error_of([&] { device_->create_buffer(64); }).status(),
            RC_E_DEVICE);
  EXPECT_EQ(error_of([&] { program(); }).status(), RC_E_DEVICE);
}

TEST_F(DeviceTest, ResourcesKeepTheirDeviceAlive) {
  auto made = device_->create_weight(weight(), data_);
  auto buffer = device_->create_buffer(64);
  auto compiled = program();
  device_.reset();
  EXPECT_EQ(state().closed, 0);
  buffer.reset();
  compiled.reset();
  made.reset();
  EXPECT_EQ(state().closed, 1);
  EXPECT_EQ(state().alive, 0);
}

// The thread that a device is closed on, when this one lets go of it.
std::thread::id closing_thread(const char* name, bool built_in) {
  static std::thread::id thread;
  static decltype(rc_plugin::close) close;
  FakePlugin plugin = test::make_fake_plugin(name);
  plugin.state.devices.resize(1);
  close = plugin.table.close;
  plugin.table.close = [](rc_plugin_device* device) {
    thread = std::this_thread::get_id();
    close(device);
  };
  PluginList::instance().add(plugin.table, built_in, "");
  Device::open(plugin.table, 0, {}).reset();
  finish_closing(plugin.table);
  PluginList::instance().remove(name);
  EXPECT_EQ(plugin.state.closed, 1);
  return thread;
}

TEST(DeviceThreads, DoesNotWaitForThreadsOfBuiltInBackends) {
  EXPECT_NE(closing_thread("within", true), std::this_thread::get_id());
  EXPECT_EQ(closing_thread("hosted", false), std::this_thread::get_id());
}

TEST_F(DeviceTest, MappedWeightsKeepTheirDataAlive) {
  auto data = std::make_shared<std::vector<float>>(4);
  auto mapped = device_->map_weight(weight(), data->data(), data);
  EXPECT_EQ(data.use_count(), 2);
  mapped.reset();
  EXPECT_EQ(data.use_count(), 1);
  EXPECT_EQ(state().alive, 1);  // the device

  state().status = RC_E_DEVICE_MEMORY;
  const Error error =
      error_of([&] { device_->map_weight(weight(), data->data(), data); });
  EXPECT_EQ(error.message(),
            "fake:0: cannot use weight layer.weight in place: fake failure "
            "-10");
  EXPECT_EQ(data.use_count(), 1);
  state().status = RC_OK;

  // A run that does not end may still read it.
  mapped = device_->map_weight(weight(), data->data(), data);
  device_->abandon();
  mapped.reset();
  EXPECT_EQ(data.use_count(), 2);
}

TEST_F(DeviceTest, ExceptionsOfDestroyFunctionsAreIgnored) {
  auto buffer = device_->create_buffer(64);
  auto compiled = program();
  state().throw_on_destroy = true;
  buffer.reset();
  compiled.reset();
  EXPECT_EQ(state().alive, 1);
}

TEST_F(DeviceTest, BuffersCheckRanges) {
  const auto buffer = device_->create_buffer(64);
  char bytes[64];
  buffer->upload(0, bytes, 64);
  buffer->copy(32, 0, 32);
  struct Range {
    uint64_t offset;
    uint64_t count;
  };
  for (const Range& range : {Range{65, 0}, {0, 65}, {UINT64_MAX, 2}}) {
    const uint64_t offset = range.offset;
    const uint64_t count = range.count;
    EXPECT_EQ(error_of([&] { buffer->upload(offset, bytes, count); }).status(),
              RC_E_INVALID_ARGUMENT);
    EXPECT_EQ(
        error_of([&] { buffer->download(offset, bytes, count); }).status(),
        RC_E_INVALID_ARGUMENT);
    EXPECT_EQ(error_of([&] { buffer->copy(offset, 0, count); }).status(),
              RC_E_INVALID_ARGUMENT);
    EXPECT_EQ(error_of([&] { buffer->copy(0, offset, count); }).status(),
              RC_E_INVALID_ARGUMENT);
  }
}

TEST_F(DeviceTest, CompileNamesEveryUnsupportedOp) {
  state().unsupported_op = RC_OP_SOFTCAP;
  const Error error = error_of([&] { program(); });
  EXPECT_EQ(error.status(), RC_E_UNSUPPORTED);
  EXPECT_NE(error.message().find("fake:0"), std::string::npos);
  EXPECT_NE(error.message().find("SOFTCAP (fake failure"), std::string::npos)
      << error.message();
  EXPECT_EQ(error.message().find("SCALE"), std::string::npos);
}

TEST_F(DeviceTest, FailuresOfRunsAreReported) {
  const auto compiled = program();
  float y[2];
  for (int64_t timeout : {-1, 600'000}) {
    state().wait_status = RC_E_DEVICE;
    EXPECT_EQ(error_of([&] {
                compiled->run({1, 0, 0, {data_}, {y}}, timeout);
              }).status(),
              RC_E_DEVICE);
    state().wait_status = RC_OK;
    EXPECT_EQ(error_of([&] {
                compiled->run({1, 0, 0, {data_}, {y}}, timeout);
              }).status(),
              RC_OK);
  }
  EXPECT_FALSE(device_->lost());
  state().wait_status = RC_E_DEVICE_LOST;
  EXPECT_EQ(error_of([&] {
              compiled->run({1, 0, 0, {data_}, {y}}, -1);
            }).status(),
            RC_E_DEVICE_LOST);
  EXPECT_TRUE(device_->lost());
}

TEST_F(DeviceTest, RunBeyondItsTimeoutIsStopped) {
  auto compiled = program();
  float y[2];
  state().endless = true;
  const Error error = error_of([&] {
    compiled->run({1, 0, 0, {data_}, {y}}, 10);
  });
  EXPECT_EQ(error.status(), RC_E_TIMEOUT);
  EXPECT_NE(error.message().find("10 ms"), std::string::npos);
  // It stopped, so that the device can go on.
  EXPECT_FALSE(device_->lost());
  state().endless = false;
  compiled->run({1, 0, 0, {data_}, {y}}, 10);
  compiled.reset();
  device_.reset();
  EXPECT_EQ(state().alive, 0);
}

TEST_F(DeviceTest, ADeviceThatDoesNotStopIsAbandoned) {
  auto compiled = program();
  auto buffer = device_->create_buffer(64);
  float y[2];
  state().endless = state().deaf = true;
  EXPECT_EQ(error_of([&] {
              compiled->run({1, 0, 0, {data_}, {y}}, 10);
            }).status(),
            RC_E_TIMEOUT);
  EXPECT_TRUE(device_->abandoned());
  EXPECT_EQ(error_of([&] {
              compiled->run({1, 0, 0, {data_}, {y}}, 10);
            }).status(),
            RC_E_DEVICE_LOST);
  EXPECT_EQ(error_of([&] { device_->create_buffer(64); }).status(),
            RC_E_DEVICE_LOST);
  EXPECT_EQ(error_of([&] { buffer->upload(0, y, 1); }).status(),
            RC_E_DEVICE_LOST);
  compiled.reset();
  buffer.reset();
  device_.reset();
  EXPECT_EQ(state().alive, 3);
  EXPECT_EQ(state().closed, 0);
}

}  // namespace
}  // namespace rc::runtime
