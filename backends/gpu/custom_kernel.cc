#include "gpu/custom_kernel.h"

#include <vector>

#include "base/error.h"
#include "gpu/backend.h"

namespace rc::gpu {

void check_group(const rc_plugin_kernel_info& info, uint64_t most) {
  const uint64_t items =
      uint64_t{info.group[0]} * info.group[1] * info.group[2];
  if (items <= most) return;
  fail(RC_E_UNSUPPORTED, info.name, ": a work-group of ", info.group[0], " x ",
       info.group[1], " x ", info.group[2], " work-items; the device has ",
       most, " at most");
}

std::unique_ptr<CustomKernel> Device::create_kernel(
    const rc_plugin_kernel_info& info) {
  fail(RC_E_UNSUPPORTED, "the device takes no kernels, and cannot compile ",
       info.name);
}

bool OpenDevice::run_kernel(CustomKernel& kernel,
                            std::span<Buffer* const> buffers,
                            const rc_plugin_kernel_run& run) {
  std::vector<Region> tensors;
  for (size_t i = 0; i < buffers.size(); ++i) {
    tensors.push_back({buffers[i], run.offsets[i], run.bytes[i]});
  }
  return kernel.run(
      {tensors, {run.parameters, kernel.words()}, run.groups, run.timeout_ms});
}

}  // namespace rc::gpu
