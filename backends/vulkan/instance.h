// The Vulkan instance of the process and its devices.
//
// The instance is made at first use and never destroyed: drivers keep threads,
// and other devices may be open. With
// RUNCIBLE_VULKAN_VALIDATION=1 in the environment it has the validation layer,
// whose messages go as errors to the log of the device that was opened last.
//
// Threads: any.
#pragma once

#include <vector>

#include "runcible/plugin.h"
#include "vulkan/api.h"

namespace rc::vulkan {

class Instance {
 public:
  // Throws RC_E_BACKEND_UNAVAILABLE if there is no loader or no driver.
  static Instance& get();

  // Those of Vulkan 1.1 or later that can compute.
  const std::vector<VkPhysicalDevice>& devices() const { return devices_; }
  VkPhysicalDevice device(int index) const;

  using Log = void (*)(rc_log_level level, const char* message);
  static void log_to(Log log);

 private:
  Instance();
  VkInstance instance_ = VK_NULL_HANDLE;
  std::vector<VkPhysicalDevice> devices_;
};

// Whether the device has the extension.
class Extensions {
 public:
  explicit Extensions(VkPhysicalDevice device);
  bool has(const char* name) const;

 private:
  std::vector<VkExtensionProperties> all_;
};

// The number of a queue family that can compute, one without graphics first;
// -1 if there is none.
int compute_family(VkPhysicalDevice device);

// Fills everything but struct_size.
void describe(VkPhysicalDevice device, rc_plugin_device_info* info);

}  // namespace rc::vulkan
