// Kernels of custom ops on a plugin whose kernels do what a test says.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdio>
#include <functional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/time_limit.h"
#include "expect_error.h"
#include "fake_plugin.h"
#include "runtime/device.h"

namespace rc::runtime {
namespace {

using test::expect_error;
using test::FakePlugin;

// State of the kernels of all devices of these tests.
rc_status status = RC_OK;
rc_plugin_kernel* handle = nullptr;
const char* compiler_output = "";
int64_t given_timeout = 0;
int sleep_ms = 0;
std::vector<rc_plugin_kernel*> destroyed;
std::vector<std::pair<int64_t, int64_t>> ranges;

rc_status answer(char* message) {
  if (status != RC_OK) {
    std::snprintf(message, RC_PLUGIN_MESSAGE_BYTES, "said %d", status);
  }
  return status;
}

class DeviceKernels : public testing::Test {
 protected:
  DeviceKernels() {
    rc_plugin& table = plugin().table;
    table.kernel_language = [](rc_plugin_device*, int32_t* language,
                               char* message) {
      *language = RC_KERNEL_SPIRV;
      return answer(message);
    };
    table.create_kernel = [](rc_plugin_device*,
                             const rc_plugin_kernel_info* info,
                             rc_plugin_kernel** kernel, char* message) {
      info->log(info->log_user, compiler_output);
      *kernel = handle;
      return answer(message);
    };
    table.destroy_kernel = [](rc_plugin_device*, rc_plugin_kernel* kernel) {
      destroyed.push_back(kernel);
    };
    table.run_kernel = [](rc_plugin_device*, rc_plugin_kernel*,
                          const rc_plugin_kernel_run* run, char* message) {
      given_timeout = run->timeout_ms;
      std::this_thread::sleep_for(std::chrono::milliseconds(sleep_ms));
      return answer(message);
    };
    table.run_ranges = [](rc_plugin_device*, int64_t count,
                          void (*function)(void*, int64_t, int64_t), void* user,
                          char* message) {
      if (status == RC_OK) {
        function(user, 0, count / 2);
        function(user, count / 2, count);
      }
      return answer(message);
    };
    status = RC_OK;
    handle = reinterpret_cast<rc_plugin_kernel*>(&handle);
    compiler_output = "";
    sleep_ms = 0;
    destroyed.clear();
    device_ = Device::open(table, 0, {});
  }
  ~DeviceKernels() override {
    device_.reset();
    plugin().state = {};
  }
  static FakePlugin& plugin() {
    static auto* plugin = new FakePlugin(test::make_fake_plugin("kernels"));
    plugin->state.devices.resize(1);
    return *plugin;
  }
  static rc_plugin_kernel_info info() {
    rc_plugin_kernel_info info = {};
    info.name = "twice";
    return info;
  }
  std::shared_ptr<Device> device_;
};

TEST_F(DeviceKernels, NeedAllFourFunctions) {
  EXPECT_EQ(device_->kernel_language(), RC_KERNEL_SPIRV);
  status = RC_E_DEVICE;
  expect_error(RC_E_DEVICE,
               "kernels:0: cannot report the language of its kernels: said -8",
               [&] { device_->kernel_language(); });
  rc_plugin& table = plugin().table;
  const rc_plugin whole = table;
  for (int i = 0; i < 4; ++i) {
    table = whole;
    if (i == 0) table.kernel_language = nullptr;
    if (i == 1) table.create_kernel = nullptr;
    if (i == 2) table.destroy_kernel = nullptr;
    if (i == 3) table.run_kernel = nullptr;
    EXPECT_EQ(device_->kernel_language(), RC_KERNEL_NONE) << i;
  }
  table = whole;
}

TEST_F(DeviceKernels, CompileErrorsAreReported) {
  status = RC_E_FORMAT;
  expect_error(RC_E_FORMAT,
               "twice on kernels:0: the kernel does not compile: said -5",
               [&] { device_->create_kernel(info()); });
  compiler_output = "line 1: no";
  expect_error(RC_E_FORMAT,
               "twice on kernels:0: the kernel does not compile: line 1: no",
               [&] { device_->create_kernel(info()); });
  status = RC_E_DEVICE_MEMORY;
  expect_error(RC_E_DEVICE_MEMORY,
               "kernels:0: cannot compile a kernel: said -10",
               [&] { device_->create_kernel(info()); });
  status = RC_OK;
  rc_plugin_kernel* const good = std::exchange(handle, nullptr);
  expect_error(RC_E_DEVICE, "kernels:0: the plugin gave no handle for a kernel",
               [&] { device_->create_kernel(info()); });
  EXPECT_TRUE(destroyed.empty());
  handle = good;
  EXPECT_EQ(device_->create_kernel(info()), good);
  device_->destroy_kernel(good);
  device_->destroy_kernel(good);  // which is gone
  EXPECT_EQ(destroyed, std::vector<rc_plugin_kernel*>{good});
  EXPECT_EQ(device_->create_kernel(info()), good);
  device_.reset();
  EXPECT_EQ(destroyed, (std::vector<rc_plugin_kernel*>{good, good}));
}

TEST_F(DeviceKernels, GetFiveSecondsMoreThanTheCallerWaits) {
  rc_plugin_kernel* kernel = device_->create_kernel(info());
  const struct {
    int64_t asked, given;
  } cases[] = {
      {INT64_MIN, -1},
      {-1, -1},
      {0, 5000},
      {1, 5001},
      {600'000, 605'000},
      {kLongestMs, kLongestMs + 5000},
      {kLongestMs + 1, -1},
      {INT64_MAX, -1},
  };
  for (const auto& c : cases) {
    int64_t spent = 0;
    device_->run_kernel(kernel, {}, c.asked, spent);
    EXPECT_EQ(given_timeout, c.given) << c.asked;
  }
}

TEST_F(DeviceKernels, LateKernelIsAnErrorAndTheDeviceContinues) {
  rc_plugin_kernel* kernel = device_->create_kernel(info());
  int64_t spent = 0;
  sleep_ms = 30;
  expect_error(RC_E_TIMEOUT, "kernels:0: a kernel was not over after 10 ms",
               [&] { device_->run_kernel(kernel, {}, 10, spent); });
  EXPECT_GE(spent, 30'000'000);
  EXPECT_FALSE(device_->abandoned());
  device_->run_kernel(kernel, {}, -1, spent);  // no limit
  EXPECT_GE(spent, 60'000'000);
  sleep_ms = 0;
  status = RC_E_DEVICE;
  expect_error(RC_E_DEVICE, "kernels:0: cannot run a kernel: said -8",
               [&] { device_->run_kernel(kernel, {}, -1, spent); });
}

TEST_F(DeviceKernels, AKernelThatDoesNotStopLosesTheDevice) {
  rc_plugin_kernel* kernel = device_->create_kernel(info());
  int64_t spent = 0;
  status = RC_E_TIMEOUT;
  expect_error(RC_E_TIMEOUT,
               "kernels:0: a kernel was not over after 10 ms; it does not "
               "stop, so the device is given up",
               [&] { device_->run_kernel(kernel, {}, 10, spent); });
  EXPECT_TRUE(device_->abandoned());
  status = RC_OK;
  for (const auto& use : std::vector<std::function<void()>>{
           [&] { device_->run_kernel(kernel, {}, -1, spent); },
           [&] { device_->create_kernel(info()); },
           [&] { device_->create_buffer(64); }}) {
    expect_error(RC_E_DEVICE_LOST,
                 "kernels:0: a run did not end; close everything on the "
                 "device and open it again",
                 use);
  }
  device_->destroy_kernel(kernel);
  EXPECT_TRUE(destroyed.empty());
}

TEST_F(DeviceKernels, WorkIsSplitFromTwoItemsOn) {
  int64_t spent = 0;
  const auto divide = [&](int64_t count) {
    ranges.clear();
    device_->run_ranges(
        count,
        [](void*, int64_t begin, int64_t end) {
          ranges.emplace_back(begin, end);
        },
        nullptr, spent);
    return ranges;
  };
  using Ranges = std::vector<std::pair<int64_t, int64_t>>;
  EXPECT_EQ(divide(0), Ranges{});
  EXPECT_EQ(divide(1), (Ranges{{0, 1}}));
  EXPECT_EQ(divide(2), (Ranges{{0, 1}, {1, 2}}));
  status = RC_E_DEVICE;
  EXPECT_EQ(divide(1), (Ranges{{0, 1}}));
  expect_error(RC_E_DEVICE, "kernels:0: cannot divide work: said -8",
               [&] { divide(2); });
  const auto function = std::exchange(plugin().table.run_ranges, nullptr);
  EXPECT_EQ(divide(9), (Ranges{{0, 9}}));
  plugin().table.run_ranges = function;
}

}  // namespace
}  // namespace rc::runtime
