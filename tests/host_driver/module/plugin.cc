#include "plugin.h"

#include <cstdio>
#include <memory>

#include "base/error.h"
#include "gpu/backend.h"
#include "host_device.h"

namespace rc::host {
namespace {

struct Driver {
  static constexpr const char* kName = "host";
  static constexpr const char* kDescription =
      "Kernels of GPUs, compiled for the host and run in any order, for tests";

  static int32_t count() { return 1; }
  static rc_plugin_device_info describe(int32_t index) {
    check(index);
    rc_plugin_device_info info = {};
    info.struct_size = sizeof info;
    std::snprintf(info.name, sizeof info.name, "%s", kDescription);
    info.kind = RC_DEVICE_SOFTWARE;
    info.unified_memory = 1;
    info.cores = 1;
    return info;
  }
  static std::unique_ptr<gpu::Device> open(
      int32_t index, const rc_plugin_open_options& options) {
    check(index);
    return std::make_unique<HostDevice>(options);
  }

 private:
  static void check(int32_t index) {
    if (index != 0) {
      fail(RC_E_NOT_FOUND, "there is no device ", index, "; there is one");
    }
  }
};

constexpr rc_plugin kPlugin =
    plugin::PluginTable<gpu::Backend<Driver>>::table();

}  // namespace

const rc_plugin& plugin() { return kPlugin; }

}  // namespace rc::host
