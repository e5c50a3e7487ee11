// Calls that devices refuse, and mistakes of their plugins: each message, and
// the nearest call that is right.
#include <gtest/gtest.h>

#include <string>

#include "base/time_limit.h"
#include "expect_error.h"
#include "fake_plugin.h"
#include "runtime/device.h"
#include "runtime/pinned.h"

namespace rc::runtime {
namespace {

using test::expect_error;
using test::FakePlugin;

class DeviceErrors : public testing::Test {
 protected:
  ~DeviceErrors() override {
    device_.reset();
    plugin().state = {};
    plugin().table = clean();
  }
  static FakePlugin& plugin() {
    static auto* plugin = new FakePlugin(test::make_fake_plugin("faulty"));
    plugin->state.devices.resize(1);
    return *plugin;
  }
  static const rc_plugin& clean() {
    static const rc_plugin table = plugin().table;
    return table;
  }
  const rc_plugin& original_ = clean();
  std::shared_ptr<Device> device_ = Device::open(plugin().table, 0, {});
};

TEST_F(DeviceErrors, UnknownStatusesBecomeDeviceErrors) {
  const struct {
    rc_status given, expected;
    const char* number;
  } cases[] = {
      {RC_E_INVALID_ARGUMENT, RC_E_INVALID_ARGUMENT, ""},
      {RC_E_INTERNAL, RC_E_INTERNAL, ""},
      {RC_E_INTERNAL - 1, RC_E_DEVICE, " (status -20)"},
      {1, RC_E_DEVICE, " (status 1)"},
  };
  for (const auto& c : cases) {
    test::FakeDevice& device = plugin().state.devices[0];
    const std::string failure = "fake failure " + std::to_string(c.given);
    device.info_status = c.given;
    expect_error(c.expected, "faulty:0: cannot describe the device: " + failure,
                 [&] { device_->info(); });
    device.info_status = RC_OK;
    device.open_status = c.given;
    expect_error(c.expected,
                 std::string("faulty:0: cannot open the device") + c.number +
                     ": " + failure,
                 [&] { Device::open(plugin().table, 0, {}); });
    device.open_status = RC_OK;
  }
  EXPECT_STREQ(device_->info().name, "fake");
}

TEST_F(DeviceErrors, DescriptionsOutOfRangeBecomeUnknown) {
  test::FakeDevice& device = plugin().state.devices[0];
  const struct {
    rc_device_kind given, expected;
  } kinds[] = {
      {RC_DEVICE_OTHER - 1, RC_DEVICE_OTHER},
      {RC_DEVICE_CPU, RC_DEVICE_CPU},
      {RC_DEVICE_SOFTWARE, RC_DEVICE_SOFTWARE},
      {RC_DEVICE_SOFTWARE + 1, RC_DEVICE_OTHER},
  };
  for (const auto& c : kinds) {
    device.kind = c.given;
    EXPECT_EQ(device_->info().kind, c.expected) << c.given;
  }
  for (const int32_t nodes : {-1, 0, 1}) {
    device.numa_nodes = nodes;
    EXPECT_EQ(device_->info().numa_nodes, nodes < 0 ? 0 : nodes);
  }
  static int32_t pages;
  plugin().table.device_info = [](int32_t, rc_plugin_device_info* info, char*) {
    info->huge_pages = pages;
    return rc_status{RC_OK};
  };
  for (pages = RC_HUGE_PAGES_UNKNOWN - 1; pages <= RC_HUGE_PAGES_ALWAYS + 1;
       ++pages) {
    const bool known =
        pages >= RC_HUGE_PAGES_UNKNOWN && pages <= RC_HUGE_PAGES_ALWAYS;
    EXPECT_EQ(device_->info().huge_pages,
              known ? pages : int32_t{RC_HUGE_PAGES_UNKNOWN});
  }
}

TEST_F(DeviceErrors, SuccessesWithoutAHandleAreNamed) {
  const float data[4] = {};
  const WeightInfo weight = {"w", RC_DTYPE_F32, {2, 2}, RC_USE_LINEAR};
  plugin().state.null_handles = true;
  expect_error(RC_E_DEVICE,
               "faulty:0: the plugin reported success, but gave no device",
               [&] { Device::open(plugin().table, 0, {}); });
  expect_error(RC_E_DEVICE, "faulty:0: the plugin gave no handle for weight w",
               [&] { device_->create_weight(weight, data); });
  expect_error(RC_E_DEVICE, "faulty:0: the plugin gave no handle for weight w",
               [&] { device_->map_weight(weight, data, nullptr); });
  expect_error(RC_E_DEVICE,
               "faulty:0: the plugin gave no handle for a buffer of 64 bytes",
               [&] { device_->create_buffer(64); });
  plugin().state.null_handles = false;
  EXPECT_NE(device_->create_weight(weight, data), nullptr);
  EXPECT_EQ(device_->create_buffer(64)->bytes(), 64u);
}

TEST_F(DeviceErrors, WeightsHaveOneToFourDimensions) {
  for (const size_t rank : {0, 1, 4, 5}) {
    const WeightInfo info = {"w", RC_DTYPE_F32, std::vector<int64_t>(rank, 1),
                             RC_USE_LINEAR};
    if (rank == 1 || rank == 4) {
      EXPECT_EQ(device_->weight_bytes(info), 4096u);
      continue;
    }
    expect_error(
        RC_E_INVALID_ARGUMENT,
        "weight w has rank " + std::to_string(rank) + "; 1 to 4 are possible",
        [&] { device_->weight_bytes(info); });
  }
}

TEST_F(DeviceErrors, RangesOfBuffersAreNamed) {
  const auto buffer = device_->create_buffer(64);
  char bytes[64];
  struct Range {
    uint64_t offset;
    uint64_t count;
  };
  for (const Range& range :
       {Range{0, 65}, {1, 64}, {64, 1}, {65, 0}, {1, UINT64_MAX}}) {
    const std::string message = "faulty:0: " + std::to_string(range.count) +
                                " bytes at " + std::to_string(range.offset) +
                                " of a buffer of 64 bytes";
    expect_error(RC_E_INVALID_ARGUMENT, message,
                 [&] { buffer->upload(range.offset, bytes, range.count); });
    expect_error(RC_E_INVALID_ARGUMENT, message,
                 [&] { buffer->download(range.offset, bytes, range.count); });
  }
  for (const Range& range : {Range{0, 64}, {1, 63}, {63, 1}, {64, 0}}) {
    buffer->upload(range.offset, bytes, range.count);
    buffer->download(range.offset, bytes, range.count);
  }
}

// Memory of the host's that the plugins of these tests give.
char memory_of_host[64];
void* given_data = nullptr;
rc_plugin_pinned* given_pinned = nullptr;
int pinned_destroyed = 0;

TEST_F(DeviceErrors, AddressesOfBuffersMustBeGiven) {
  const auto buffer = device_->create_buffer(64);
  expect_error(RC_E_UNSUPPORTED,
               "faulty:0 has separate memory; rc_tensor_read copies from "
               "there",
               [&] { buffer->memory(); });
  plugin().table.buffer_memory = [](rc_plugin_device*, rc_plugin_buffer*,
                                    void** data, char*) {
    *data = given_data;
    return rc_status{RC_OK};
  };
  given_data = nullptr;
  expect_error(RC_E_DEVICE, "faulty:0: the plugin gave no address",
               [&] { buffer->memory(); });
  given_data = memory_of_host;
  EXPECT_EQ(static_cast<void*>(buffer->memory()), memory_of_host);
}

TEST_F(DeviceErrors, PinnedMemoryMustBeComplete) {
  const auto pin = [&](uint64_t bytes) { return Pinned(device_, bytes); };
  expect_error(RC_E_UNSUPPORTED,
               "faulty:0 has no memory of the host's that it moves numbers "
               "from by itself; rc_tensor_from_data and rc_tensor_read take "
               "any memory",
               [&] { pin(8); });
  // Plain memory where buffers are memory of the host's.
  plugin().table.buffer_memory = [](rc_plugin_device*, rc_plugin_buffer*,
                                    void**, char*) { return rc_status{RC_OK}; };
  expect_error(RC_E_OUT_OF_MEMORY,
               "faulty:0: there is no memory for 18446744073709551615 bytes",
               [&] { pin(UINT64_MAX); });
  {
    const Pinned plain(device_, 100);
    EXPECT_EQ(plain.bytes(), 100u);
    for (int i = 0; i < 100; ++i) EXPECT_EQ(plain.data()[i], std::byte{0});
  }
  plugin().table.create_pinned = [](rc_plugin_device*, uint64_t,
                                    rc_plugin_pinned** pinned, void** data,
                                    char*) {
    *pinned = given_pinned;
    *data = given_data;
    return rc_status{RC_OK};
  };
  EXPECT_EQ(pin(8).bytes(), 8u);  // one of the two functions is not enough
  plugin().table.destroy_pinned = [](rc_plugin_device*, rc_plugin_pinned*) {
    ++pinned_destroyed;
  };
  auto* handle = reinterpret_cast<rc_plugin_pinned*>(memory_of_host);
  for (const auto& [pinned, data] :
       {std::pair<rc_plugin_pinned*, void*>{nullptr, nullptr},
        {handle, nullptr},
        {nullptr, memory_of_host}}) {
    given_pinned = pinned;
    given_data = data;
    expect_error(RC_E_DEVICE,
                 "faulty:0: the plugin gave no memory for 48 bytes",
                 [&] { pin(48); });
  }
  EXPECT_EQ(pinned_destroyed, 0);
  given_pinned = handle;
  {
    const Pinned whole(device_, 48);
    EXPECT_EQ(static_cast<void*>(whole.data()), memory_of_host);
    EXPECT_EQ(whole.bytes(), 48u);
  }
  EXPECT_EQ(pinned_destroyed, 1);
}

}  // namespace
}  // namespace rc::runtime
