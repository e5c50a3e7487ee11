// The table of the OpenCL backend.
//
// Sums are F32 with F32 activations on every device; weights are decoded within
// the kernels. Nothing rests on an extension but F64 weights (cl_khr_fp64): f16
// arithmetic and integer products would round activations, sub-groups are not
// needed where lanes are rows of the weight, and weights are rearranged at
// upload, so that shared memory would save no copy. Compiled kernels are kept
// on disk by the drivers themselves. Tensors lie in buffers as files hold them,
// and those of types with blocks are decoded within the kernels as well.
//
// The same result, bit for bit, whatever else is in a batch and however a
// prompt is cut into chunks: on every device where work-items do not share the
// columns of a product (parts = 1 in the tuning, as on processors). Elsewhere
// products of few rows are summed in parts and those of many are not.
#include <memory>

#include "gpu/backend.h"
#include "opencl/opencl_device.h"
#include "opencl/platform.h"

namespace rc::opencl {
namespace {

struct Driver {
  static constexpr const char* kName = "opencl";
  static constexpr const char* kDescription =
      "Devices with an OpenCL 1.2 driver";

  static int32_t count() { return static_cast<int32_t>(devices().size()); }
  static rc_plugin_device_info describe(int32_t index) {
    return opencl::describe(device_by_number(index));
  }
  static std::unique_ptr<gpu::Device> open(
      int32_t index, const rc_plugin_open_options& options) {
    return std::make_unique<OpenClDevice>(device_by_number(index), options);
  }
};

constexpr rc_plugin kPlugin =
    plugin::PluginTable<gpu::Backend<Driver>>::table();

}  // namespace
}  // namespace rc::opencl

extern "C" RC_API const rc_plugin* rc_plugin_entry(void);
const rc_plugin* rc_plugin_entry(void) { return &rc::opencl::kPlugin; }
