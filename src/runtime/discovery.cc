#include <cstdio>

#include "base/deep_stack.h"
#include "runtime/device_order.h"
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
      if (device.reason.empty()) {
        report.devices.push_back(device.info);
        usable.push_back(std::move(device));
      } else {
        // Keeps its place, for the number of a device is its place.
        rc_plugin_device_info unknown = {};
        unknown.struct_size = sizeof unknown;
        std::snprintf(unknown.name, sizeof unknown.name, "unavailable: %s",
                      device.reason.c_str());
        report.devices.push_back(unknown);
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
