#include "runtime/open_devices.h"

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <tuple>
#include <utility>

#include "base/deep_stack.h"
#include "base/error.h"
#include "runtime/self_test.h"

namespace rc::runtime {
namespace {

std::shared_ptr<Device> open_and_test(const ReportedDevice& reported,
                                      const DeviceOptions& options) {
  auto device = Device::open(reported.plugin->table, reported.index, options);
  if (!reported.plugin->path.empty()) {
    auto test = std::make_unique<SelfTest>(device, reported.plugin->path);
    const std::string reason = test->of_device();
    if (!reason.empty()) fail(RC_E_DEVICE, device->id(), ": ", reason);
    device->test_with(std::move(test));
  }
  return device;
}

struct OpenDevices {
  using Key = std::tuple<const PluginEntry*, int, int, bool, rc_numa>;
  std::mutex mutex;
  std::map<Key, std::weak_ptr<Device>> devices;
};

// Never destroyed: devices may be opened while the process ends.
OpenDevices& open_devices() {
  static auto* const devices = new OpenDevices;
  return *devices;
}

}  // namespace

std::shared_ptr<Device> open_device(const ReportedDevice& reported,
                                    const DeviceOptions& asked) {
  // Of other devices these are the options of the CPU that is opened with them.
  DeviceOptions options = asked;
  const int32_t nodes = reported.info.numa_nodes;
  if (nodes > 0) options.numa = numa_on(asked.numa, nodes);
  OpenDevices& all = open_devices();
  // Held while opening: two who ask at once shall get one device.
  const std::lock_guard lock(all.mutex);
  std::weak_ptr<Device>& known =
      all.devices[{reported.plugin, reported.index, options.threads,
                   options.profile, options.numa}];
  if (auto device = known.lock(); device != nullptr && !device->lost()) {
    return device;
  }
  const auto open = [&] { return open_and_test(reported, options); };
  auto device = reported.plugin->built_in ? open() : on_deep_stack(open);
  known = device;
  return device;
}

std::vector<std::shared_ptr<Device>> all_open_devices() {
  OpenDevices& all = open_devices();
  const std::lock_guard lock(all.mutex);
  std::vector<std::shared_ptr<Device>> found;
  for (const auto& [key, known] : all.devices) {
    if (auto device = known.lock()) found.push_back(std::move(device));
  }
  return found;
}

}  // namespace rc::runtime
