#include "runtime/device_order.h"

#include <algorithm>
#include <iterator>
#include <tuple>

#include "base/deep_stack.h"
#include "base/error.h"
#include "base/log.h"
#include "runtime/device.h"
#include "runtime/quarantine.h"

namespace rc::runtime {
namespace {

// More would be a plugin gone wrong.
constexpr int32_t kMaxDevices = 64;

int kind_rank(const ReportedDevice& device) {
  if (device.plugin->name == kReferenceBackend) return 6;
  switch (device.info.kind) {
    case RC_DEVICE_GPU_DISCRETE:
      return 0;
    case RC_DEVICE_GPU_INTEGRATED:
      return 1;
    case RC_DEVICE_ACCELERATOR:
      return 2;
    case RC_DEVICE_CPU:
      return 3;
    case RC_DEVICE_SOFTWARE:
      return 5;
  }
  return 4;
}

auto plugin_rank(const ReportedDevice& device) {
  // cuda and rocm have not been measured on a GPU.
  static constexpr const char* kOrder[] = {"metal",  "vulkan", "cuda", "rocm",
                                           "opencl", "webgpu", "cpu"};
  return std::find(std::begin(kOrder), std::end(kOrder), device.plugin->name) -
         std::begin(kOrder);
}

ReportedDevices ask(const PluginEntry& plugin) {
  ReportedDevices reported;
  int32_t count = 0;
  Message message;
  const rc_status status = plugin.table.device_count(&count, message.buffer());
  if (status == RC_E_OUT_OF_MEMORY && plugin.built_in) {
    fail(status, plugin.name, ": ", message.text());
  }
  if (status != RC_OK || count <= 0) {
    reported.status = status;
    reported.reason =
        *message.text() != '\0' ? std::string(message.text())
        : status != RC_OK       ? cat("the plugin failed with status ", status)
        : count < 0             ? cat("the plugin reports ", count, " devices")
                                : std::string("it has no device here");
    return reported;
  }
  if (count > kMaxDevices) {
    log(RC_LOG_WARNING, plugin.name, " reports ", count, " devices; the first ",
        kMaxDevices, " are used");
    count = kMaxDevices;
  }
  for (int32_t i = 0; i < count; ++i) {
    ReportedDevice device;
    device.plugin = &plugin;
    device.index = i;
    try {
      device.info = device_info(plugin.table, i);
      device.reason = quarantine_reason(plugin, device.info);
      if (!device.reason.empty()) device.status = RC_E_DEVICE;
    } catch (const Error& error) {
      if (error.status() == RC_E_OUT_OF_MEMORY && plugin.built_in) throw;
      device.reason = error.message();
      device.status = error.status();
      device.described = false;
    }
    reported.devices.push_back(std::move(device));
  }
  return reported;
}

}  // namespace

std::string ReportedDevice::id() const { return cat(plugin->name, ":", index); }

ReportedDevices reported_devices(const PluginEntry& plugin) {
  if (plugin.built_in) return ask(plugin);
  try {
    return on_deep_stack([&] { return ask(plugin); });
  } catch (const Error& error) {
    return {{}, error.message(), error.status()};
  }
}

bool is_gpu(const rc_plugin_device_info& info) {
  return info.kind == RC_DEVICE_GPU_DISCRETE ||
         info.kind == RC_DEVICE_GPU_INTEGRATED;
}

bool allows(const std::vector<SpecItem>& allowed,
            const ReportedDevice& device) {
  if (allowed.empty()) return true;
  return std::any_of(allowed.begin(), allowed.end(), [&](const SpecItem& item) {
    if (item.name == "gpu") return is_gpu(device.info);
    return item.name == device.plugin->name &&
           (!item.index || *item.index == device.index);
  });
}

void sort_by_preference(std::vector<ReportedDevice>& devices) {
  std::stable_sort(devices.begin(), devices.end(),
                   [](const ReportedDevice& a, const ReportedDevice& b) {
                     return std::tuple(kind_rank(a), plugin_rank(a)) <
                            std::tuple(kind_rank(b), plugin_rank(b));
                   });
}

}  // namespace rc::runtime
