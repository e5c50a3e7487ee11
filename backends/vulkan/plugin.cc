// The table of the module.
#include "runcible/plugin.h"

#include <memory>

#include "gpu/backend.h"
#include "vulkan/instance.h"
#include "vulkan/vulkan_device.h"

namespace rc::vulkan {
namespace {

struct Driver {
  static constexpr const char* kName = "vulkan";
  static constexpr const char* kDescription =
      "Devices with a Vulkan 1.1 driver";

  static int32_t count();
  static rc_plugin_device_info describe(int32_t index) {
    rc_plugin_device_info info = {};
    vulkan::describe(Instance::get().device(index), &info);
    return info;
  }
  static std::unique_ptr<gpu::Device> open(
      int32_t index, const rc_plugin_open_options& options) {
    return std::make_unique<VulkanDevice>(index, options);
  }
};

int32_t Driver::count() {
  const auto& devices = Instance::get().devices();
  if (devices.empty()) {
    fail(RC_E_BACKEND_UNAVAILABLE,
         "there is no device of Vulkan 1.1 that can compute");
  }
  return static_cast<int32_t>(devices.size());
}

constexpr rc_plugin kPlugin =
    plugin::PluginTable<gpu::Backend<Driver>>::table();

}  // namespace
}  // namespace rc::vulkan

extern "C" RC_API const rc_plugin* rc_plugin_entry(void) {
  return &rc::vulkan::kPlugin;
}
