#include "runtime/candidates.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "runtime/backend_spec.h"

namespace rc::runtime {
namespace {

bool is_cpu(const ReportedDevice& device) {
  return device.info.kind == RC_DEVICE_CPU &&
         device.plugin->name != kReferenceBackend;
}

bool is_passed_over(const PluginEntry& plugin,
                    const std::vector<Candidate>& known) {
  return std::any_of(known.begin(), known.end(), [&](const Candidate& one) {
    return one.id == plugin.name;
  });
}

// Of "auto" or "gpu".
void add_any(bool gpus, const std::vector<Candidate>& known,
             std::vector<ReportedDevice>& devices) {
  std::vector<ReportedDevice> found;
  for (const PluginEntry* plugin : PluginList::instance().entries()) {
    if (plugin->name == kReferenceBackend) continue;
    if (is_passed_over(*plugin, known)) continue;
    for (ReportedDevice& device : reported_devices(*plugin).devices) {
      if (device.reason.empty() && (!gpus || is_gpu(device.info))) {
        found.push_back(std::move(device));
      }
    }
  }
  if (std::any_of(found.begin(), found.end(), is_cpu)) {
    std::erase_if(found, [](const ReportedDevice& device) {
      return device.info.kind == RC_DEVICE_SOFTWARE;
    });
  }
  sort_by_preference(found);
  std::move(found.begin(), found.end(), std::back_inserter(devices));
}

void add_named(const SpecItem& item, const std::vector<Candidate>& known,
               std::vector<ReportedDevice>& devices) {
  const PluginEntry* plugin = PluginList::instance().find(item.name);
  if (plugin == nullptr || is_passed_over(*plugin, known)) return;
  std::vector<ReportedDevice> found = reported_devices(*plugin).devices;
  if (item.index) {
    const auto index = static_cast<size_t>(*item.index);
    if (index >= found.size()) return;
    found = {found[index]};
  }
  std::erase_if(found, [](const ReportedDevice& device) {
    return !device.reason.empty();
  });
  sort_by_preference(found);
  std::move(found.begin(), found.end(), std::back_inserter(devices));
}

bool same_hardware(const ReportedDevice& a, const ReportedDevice& b) {
  const std::string_view id = a.info.physical_id;
  return a.id() == b.id() || (!id.empty() && id == b.info.physical_id);
}

bool too_small(const ReportedDevice& device, uint64_t required_memory) {
  const uint64_t known = device.info.free_memory != 0
                             ? device.info.free_memory
                             : device.info.total_memory;
  return known != 0 && known < required_memory;
}

}  // namespace

std::vector<ReportedDevice> candidate_devices(
    const std::string& spec, uint64_t required_memory,
    const std::vector<Candidate>& known) {
  std::vector<ReportedDevice> all;
  for (const SpecItem& item : parse_spec(spec)) {
    if (item.is_any()) {
      add_any(item.name == "gpu", known, all);
    } else {
      add_named(item, known, all);
    }
  }
  std::vector<ReportedDevice> devices;
  for (ReportedDevice& device : all) {
    const bool again = std::any_of(devices.begin(), devices.end(),
                                   [&](const ReportedDevice& earlier) {
                                     return same_hardware(earlier, device);
                                   });
    if (!again && !too_small(device, required_memory)) {
      devices.push_back(std::move(device));
    }
  }
  return devices;
}

}  // namespace rc::runtime
