#include "rocm/rocm_device.h"

#include <memory>

#include "gpu/kernel.h"
#include "rocm/code_objects.h"
#include "rocm/hip_driver.h"
#include "rocm/platform.h"
#include "streams/custom_kernel.h"

namespace rc::rocm {
namespace {

// RUNCIBLE_ROCM_TUNING replaces some choices: names and numbers, as in
// "parts=2,reduce=64".
streams::Tuning choices() {
  // Of a group; every GPU has more, and these keep most registers.
  constexpr uint32_t kMostItems = 256;
  streams::Tuning tuning = streams::gpu_tuning();
  // For the results of ATTENTION: a group has 64 KB, of which sums take some.
  tuning.local_bytes = 44 << 10;
  streams::apply_choices("RUNCIBLE_ROCM_TUNING", kMostItems, &tuning);
  return tuning;
}

}  // namespace

RocmDevice::RocmDevice(int32_t number, const rc_plugin_open_options& options)
    : StreamDevice(std::make_unique<HipDriver>(number), choices(),
                   total_memory(number), options),
      isa_(isa_of(number)),
      modules_(driver()) {}

streams::FunctionHandle RocmDevice::function(const gpu::Variant& variant) {
  return modules_.function(description(variant),
                           gpu::kernel_name(variant.first),
                           [&] { return code_object(variant, isa_); });
}

std::unique_ptr<gpu::CustomKernel> RocmDevice::create_kernel(
    const rc_plugin_kernel_info& info) {
  // Of every GPU that HIP serves.
  constexpr uint64_t kMostItems = 1024;
  gpu::check_group(info, kMostItems);
  return std::make_unique<streams::CustomKernel>(*this, info,
                                                 code_object(info, isa_));
}

}  // namespace rc::rocm
