// The table of the ROCm backend, for AMD's GPUs.
//
// The kernels are those of gpu/kernels/c. The module carries their sources, and
// AMD's compiler, a library that comes with HIP, compiles each for the GPU that
// is there when a model is loaded; what it made is kept in files. So no toolkit
// is needed to build the module, and it serves GPUs that came later.
#include <memory>

#include "gpu/backend.h"
#include "rocm/platform.h"
#include "rocm/rocm_device.h"

namespace rc::rocm {
namespace {

struct Driver {
  static constexpr const char* kName = "rocm";
  static constexpr const char* kDescription = "AMD GPUs, by HIP";

  static int32_t count() { return device_count(); }
  static rc_plugin_device_info describe(int32_t number) {
    return rocm::describe(number);
  }
  static std::unique_ptr<gpu::Device> open(
      int32_t number, const rc_plugin_open_options& options) {
    check_device(number);
    return std::make_unique<RocmDevice>(number, options);
  }
};

constexpr rc_plugin kPlugin =
    plugin::PluginTable<gpu::Backend<Driver>>::table();

}  // namespace
}  // namespace rc::rocm

extern "C" RC_API const rc_plugin* rc_plugin_entry(void);
const rc_plugin* rc_plugin_entry(void) { return &rc::rocm::kPlugin; }
