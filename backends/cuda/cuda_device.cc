#include "cuda/cuda_device.h"

#include <memory>

#include "base/error.h"
#include "cuda/cuda_driver.h"
#include "cuda/platform.h"
#include "cuda/ptx.h"
#include "cuda/tuning.h"
#include "cuda/variants.h"
#include "gpu/kernel.h"

namespace rc::cuda {
namespace {

uint64_t total_memory(CUdevice device) {
  size_t bytes = 0;
  check(api().DeviceTotalMem(&bytes, device), "cuDeviceTotalMem");
  return bytes;
}

// Throws for sizes beyond those that the kernels have arrays for.
void check_rooms(const Op& op, std::span<const rc_plugin_value> values) {
  const auto fits = [&](int32_t number, int dimension, uint32_t most,
                        const char* what) {
    if (number < 0) return;
    const int64_t size = values[static_cast<size_t>(number)].shape[dimension];
    if (size > most) {
      fail(RC_E_UNSUPPORTED, op_name(op.code), " with ", what, " of ", size,
           "; the kernels of cuda have room for ", most);
    }
  };
  switch (op.code) {
    case RC_OP_ATTENTION:
    case RC_OP_GENERAL_ATTENTION:
      fits(op.inputs[0], 2, kHeadRoom, "keys");
      fits(op.outputs[0], 2, kHeadRoom, "values");
      break;
    case RC_OP_ATTEND:
      fits(op.inputs[0], 3, kHeadRoom, "heads");
      break;
    case RC_OP_SHORT_CONV:
      fits(op.inputs[1], 1, kWidthRoom, "filters");
      break;
    case RC_OP_SELECTIVE_SCAN:
      fits(op.inputs[2], 2, kStateRoom, "states");
      break;
    case RC_OP_CHANNEL_SCAN:
      fits(op.inputs[2], 1, kStateRoom, "states");
      break;
    case RC_OP_DELTA_RULE:
    case RC_OP_FADING_STATE:
      fits(op.inputs[1], 2, kStateRoom, "states");
      break;
    default:
      break;
  }
}

}  // namespace

CudaDevice::CudaDevice(CUdevice device, const rc_plugin_open_options& options)
    : StreamDevice(std::make_unique<CudaDriver>(device),
                   cuda::tuning(capability(device)), total_memory(device),
                   options),
      modules_(driver()) {}

streams::FunctionHandle CudaDevice::function(const gpu::Variant& variant) {
  return modules_.function(description(variant),
                           gpu::kernel_name(variant.first),
                           [&variant] { return complete_ptx(variant); });
}

void CudaDevice::check_supported(
    const Op& op, std::span<const rc_plugin_value> values) const {
  check_rooms(op, values);
  StreamDevice::check_supported(op, values);
}

}  // namespace rc::cuda
