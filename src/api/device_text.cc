#include "api/device_text.h"

#include <cstring>
#include <utility>

#include "base/error.h"

namespace rc::api {
namespace {

// A plugin may have filled its array to the last byte.
template <size_t n>
std::string text(const char (&array)[n]) {
  return std::string(array, strnlen(array, n));
}

}  // namespace

DeviceText::DeviceText(std::string backend_name,
                       std::string backend_description, int32_t device_index,
                       const rc_plugin_device_info& info, std::string why,
                       std::string quarantined_ops)
    : backend(std::move(backend_name)),
      description(std::move(backend_description)),
      index(device_index),
      kind(info.kind),
      id(cat(backend, ':', device_index)),
      name(text(info.name)),
      reason(std::move(why)),
      total_memory(info.total_memory),
      free_memory(info.free_memory),
      unified_memory(info.unified_memory),
      cores(info.cores),
      features(text(info.features)),
      driver(text(info.driver)),
      physical_id(text(info.physical_id)),
      quarantined(std::move(quarantined_ops)),
      fp16(info.fp16 != 0),
      bf16(info.bf16 != 0),
      fp64(info.fp64 != 0),
      int8_dot(info.int8_dot != 0),
      numa_nodes(info.numa_nodes),
      huge_pages(info.huge_pages) {}

DeviceText::DeviceText(std::string backend_name,
                       std::string backend_description, std::string why)
    : backend(std::move(backend_name)),
      description(std::move(backend_description)),
      reason(std::move(why)) {}

rc_device_report DeviceText::report(const rc_plugin_device_info* info) const {
  rc_device_report report = RC_DEVICE_REPORT_INIT;
  report.backend = backend.c_str();
  report.description = description.c_str();
  report.index = index;
  report.kind = kind;
  report.id = id.c_str();
  report.name = name.c_str();
  report.reason = reason.c_str();
  report.total_memory = info != nullptr ? info->total_memory : total_memory;
  report.free_memory = info != nullptr ? info->free_memory : free_memory;
  report.unified_memory = unified_memory;
  report.cores = cores;
  report.features = features.c_str();
  report.driver = driver.c_str();
  report.physical_id = physical_id.c_str();
  report.quarantined = quarantined.c_str();
  report.fp16 = fp16 ? 1 : 0;
  report.bf16 = bf16 ? 1 : 0;
  report.fp64 = fp64 ? 1 : 0;
  report.int8_dot = int8_dot ? 1 : 0;
  report.numa_nodes = numa_nodes;
  report.huge_pages = huge_pages;
  return report;
}

}  // namespace rc::api
