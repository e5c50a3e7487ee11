// The report of a device, with strings that live as long as this.
#pragma once

#include <string>

#include "runcible/backend.h"
#include "runcible/plugin.h"

namespace rc::api {

struct DeviceText {
  // A device of an available backend.
  DeviceText(std::string backend, std::string description, int32_t index,
             const rc_plugin_device_info& info, std::string reason = {},
             std::string quarantined = {});
  // A backend that is not available.
  DeviceText(std::string backend, std::string description, std::string reason);

  // Memory as in `info`, if it is given; else as it was at first.
  rc_device_report report(const rc_plugin_device_info* info = nullptr) const;

  std::string backend;
  std::string description;
  int32_t index = -1;
  rc_device_kind kind = RC_DEVICE_OTHER;
  std::string id;
  std::string name;
  std::string reason;
  uint64_t total_memory = 0;
  uint64_t free_memory = 0;
  int32_t unified_memory = 0;
  int32_t cores = 0;
  std::string features;
  std::string driver;
  std::string physical_id;
  std::string quarantined;
  bool fp16 = false;
  bool bf16 = false;
  bool fp64 = false;
  bool int8_dot = false;
  int32_t numa_nodes = 0;
  rc_huge_pages huge_pages = RC_HUGE_PAGES_UNKNOWN;
};

}  // namespace rc::api
