// The table of the CUDA backend, for NVIDIA's GPUs.
//
// The kernels are those of gpu/kernels/c, compiled to PTX when the module is
// built, so that a user needs NVIDIA's driver and no toolkit: the driver
// compiles PTX for its GPU when a model is loaded, and keeps the result. Sums
// are F32 with F32 activations; weights are decoded within the kernels.
#include <memory>

#include "cuda/cuda_device.h"
#include "cuda/platform.h"
#include "gpu/backend.h"

namespace rc::cuda {
namespace {

struct Driver {
  static constexpr const char* kName = "cuda";
  static constexpr const char* kDescription =
      "NVIDIA GPUs, by the driver alone";

  static int32_t count() { return static_cast<int32_t>(devices().size()); }
  static rc_plugin_device_info describe(int32_t index) {
    return cuda::describe(device_by_number(index));
  }
  static std::unique_ptr<gpu::Device> open(
      int32_t index, const rc_plugin_open_options& options) {
    return std::make_unique<CudaDevice>(device_by_number(index), options);
  }
};

constexpr rc_plugin kPlugin =
    plugin::PluginTable<gpu::Backend<Driver>>::table();

}  // namespace
}  // namespace rc::cuda

extern "C" RC_API const rc_plugin* rc_plugin_entry(void);
const rc_plugin* rc_plugin_entry(void) { return &rc::cuda::kPlugin; }
