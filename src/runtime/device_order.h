// Every device that the plugins report, and the order in which "auto" tries
// them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "runtime/backend_spec.h"
#include "runtime/plugin_list.h"

namespace rc::runtime {

// Made for tests, and slow: what "auto" takes if nothing else works.
inline constexpr std::string_view kReferenceBackend = "reference";

// A device as its plugin reports it; nothing is opened.
struct ReportedDevice {
  const PluginEntry* plugin = nullptr;
  int index = 0;
  rc_plugin_device_info info = {};
  std::string reason;        // why it must not be opened; "" if it may be
  rc_status status = RC_OK;  // with the reason
  bool described = true;     // false: there is no info

  std::string id() const;  // "vulkan:1"
};

struct ReportedDevices {
  std::vector<ReportedDevice> devices;  // in the order of their numbers
  std::string reason;                   // why there is none
  rc_status status = RC_OK;             // with the reason
};

// Returns the devices that a plugin reports. A device that is quarantined (see
// quarantine.h) has that as its reason. Throws RC_E_OUT_OF_MEMORY for a
// built-in plugin; of others, whose drivers are known to report that for any
// failure, it is a reason like any other.
ReportedDevices reported_devices(const PluginEntry& plugin);

bool is_gpu(const rc_plugin_device_info& info);

// Whether `allowed`, whose names are backends or "gpu", means the device;
// empty: all devices.
bool allows(const std::vector<SpecItem>& allowed, const ReportedDevice& device);

// Sorts by preference: discrete GPUs, integrated GPUs, accelerators, CPUs,
// others, software devices (which never beat the CPU), and the reference
// backend last. Among equals metal, vulkan, cuda, rocm, opencl, webgpu, then
// the others as they came: so one physical device is taken through the first of
// these that sees it.
void sort_by_preference(std::vector<ReportedDevice>& devices);

}  // namespace rc::runtime
