#include "cuda/context.h"

#include "base/error.h"

namespace rc::cuda {

Context::Context(CUdevice device) : device_(device) {
  const CUresult result = api().DevicePrimaryCtxRetain(&context_, device);
  if (result == CUDA_ERROR_DEVICE_UNAVAILABLE) {
    fail(RC_E_BACKEND_UNAVAILABLE,
         "cuDevicePrimaryCtxRetain failed: ", result_name(api(), result),
         ": another process has the device, whose compute mode is exclusive; "
         "nvidia-smi -c DEFAULT, as root, lets several use it");
  }
  check(result, "cuDevicePrimaryCtxRetain");
}

Context::~Context() {
  static_cast<void>(api().DevicePrimaryCtxRelease(device_));
}

}  // namespace rc::cuda
