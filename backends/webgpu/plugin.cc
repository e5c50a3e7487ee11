// The table, of the module or, in WebAssembly, of what is linked.
#include "webgpu/plugin.h"

#include <memory>

#include "gpu/backend.h"
#include "webgpu/instance.h"
#include "webgpu/webgpu_device.h"

namespace rc::webgpu {
namespace {

struct Driver {
  static constexpr const char* kName = "webgpu";
  static constexpr const char* kDescription =
      "Adapters of an implementation of WebGPU";

  static int32_t count() { return static_cast<int32_t>(adapters().size()); }
  static rc_plugin_device_info describe(int32_t index) {
    rc_plugin_device_info info = {};
    webgpu::describe(adapter(index), &info);
    return info;
  }
  static std::unique_ptr<gpu::Device> open(
      int32_t index, const rc_plugin_open_options& options) {
    return std::make_unique<WebGpuDevice>(index, options);
  }
};

constexpr rc_plugin kPlugin =
    plugin::PluginTable<gpu::Backend<Driver>>::table();

}  // namespace

const rc_plugin* plugin() { return &kPlugin; }

}  // namespace rc::webgpu

#ifndef __EMSCRIPTEN__
extern "C" RC_API const rc_plugin* rc_plugin_entry(void) {
  return rc::webgpu::plugin();
}
#endif
