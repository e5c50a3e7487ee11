// Every device that the plugins report, and the order in which "auto" tries
// them.
#pragma once

#include <string>
#include <vector>

#include "runtime/plugin_list.h"

namespace rc::runtime {

// A device as its plugin reports it; nothing is opened.
struct ReportedDevice {
  const PluginEntry* plugin = nullptr;
  int index = 0;
  rc_plugin_device_info info = {};
  std::string reason;  // why there is no info; "" if there is

  std::string id() const;  // "vulkan:1"
};

// The devices of a plugin in the order of their numbers. If there is none,
// `reason` says why.
std::vector<ReportedDevice> reported_devices(const PluginEntry& plugin,
                                             std::string& reason);

// Sorts by preference: discrete GPUs, integrated GPUs, accelerators, CPUs,
// others, software devices (which never beat the CPU), and the reference
// backend last. Among equals cuda, rocm, metal, vulkan, opencl, webgpu, then
// the others as they came: so one physical device is taken through the first of
// these that sees it.
void sort_by_preference(std::vector<ReportedDevice>& devices);

}  // namespace rc::runtime
