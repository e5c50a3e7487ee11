#include <cstdio>

#include "base/deep_stack.h"
#include "runtime/device_order.h"
#include "runtime/quarantine.h"
#include "runtime/registry.h"

namespace rc::runtime {

void register_plugin(const rc_plugin& plugin) {
  PluginList::instance().add(plugin, false, "");
}

void load_plugin(const std::string& path) {
  on_deep_stack([&] { PluginList::instance().load(path); });
}

Discovery discover(SearchProgress progress) {
  PluginList& list = PluginList::instance();
  const std::vector<ModuleFailure> failures = list.load_modules(true, progress);
  Discovery discovery;
  std::vector<ReportedDevice> usable;
  const std::vector<const PluginEntry*> plugins = list.entries();
  for (size_t i = 0; i < plugins.size(); ++i) {
    const PluginEntry* plugin = plugins[i];
    progress.reached_devices(i, plugins.size());
    BackendReport report;
    report.name = plugin->name;
    report.description = plugin->description;
    report.built_in = plugin->built_in;
    report.path = plugin->path;
    ReportedDevices reported = reported_devices(*plugin);
    report.reason = std::move(reported.reason);
    for (ReportedDevice& device : reported.devices) {
      // Every one keeps its place, for the number of a device is its place.
      DeviceReport& one = report.devices.emplace_back();
      one.info = device.info;
      one.reason = device.reason;
      if (device.reason.empty()) {
        one.quarantined = quarantined_ops(*plugin, device.info);
        usable.push_back(std::move(device));
      } else if (!device.described) {
        one.info = {};
        one.info.struct_size = sizeof one.info;
        std::snprintf(one.info.name, sizeof one.info.name, "unavailable: %s",
                      device.reason.c_str());
      }
    }
    discovery.backends.push_back(std::move(report));
  }
  for (const ModuleFailure& failure : failures) {
    BackendReport report;
    report.name = failure.name;
    report.path = failure.path;
    report.reason = failure.reason;
    discovery.backends.push_back(std::move(report));
  }
  progress.reached_devices(1, 1);
  sort_by_preference(usable);
  if (!usable.empty()) discovery.automatic = usable.front().id();
  return discovery;
}

}  // namespace rc::runtime
