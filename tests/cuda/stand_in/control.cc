#include "control.h"

#include <map>

namespace rc::stand_in {

const char* const settings_variable = "RUNCIBLE_CUDA_STAND_IN";

}  // namespace rc::stand_in

using namespace rc::cuda;
using rc::stand_in::setting;

// Its presence says that the devices are no GPUs.
RC_STAND_IN const int rc_cuda_stand_in = 1;
// See streams/control.h.
RC_STAND_IN void rc_cuda_stand_in_fail(const char* function, long after,
                                       CUresult result) {
  rc::stand_in::fail_after(function, after, result);
}
RC_STAND_IN long rc_cuda_stand_in_calls() { return rc::stand_in::calls; }

RC_STAND_IN CUresult cuInit(unsigned) {
  return static_cast<CUresult>(setting("init", CUDA_SUCCESS));
}
RC_STAND_IN CUresult cuDriverGetVersion(int* version) {
  *version = static_cast<int>(setting("driver", 12040));
  return CUDA_SUCCESS;
}
RC_STAND_IN CUresult cuGetErrorName(CUresult result, const char** name) {
  static const auto& names = *new std::map<CUresult, const char*>{
      {CUDA_SUCCESS, "CUDA_SUCCESS"},
      {kInvalidValue, "CUDA_ERROR_INVALID_VALUE"},
      {CUDA_ERROR_OUT_OF_MEMORY, "CUDA_ERROR_OUT_OF_MEMORY"},
      {CUDA_ERROR_STUB_LIBRARY, "CUDA_ERROR_STUB_LIBRARY"},
      {CUDA_ERROR_DEVICE_UNAVAILABLE, "CUDA_ERROR_DEVICE_UNAVAILABLE"},
      {CUDA_ERROR_NO_DEVICE, "CUDA_ERROR_NO_DEVICE"},
      {CUDA_ERROR_INVALID_DEVICE, "CUDA_ERROR_INVALID_DEVICE"},
      {kInvalidContext, "CUDA_ERROR_INVALID_CONTEXT"},
      {kInvalidImage, "CUDA_ERROR_INVALID_PTX"},
      {kNotFound, "CUDA_ERROR_NOT_FOUND"},
      {CUDA_ERROR_NOT_READY, "CUDA_ERROR_NOT_READY"},
      {CUDA_ERROR_ILLEGAL_ADDRESS, "CUDA_ERROR_ILLEGAL_ADDRESS"},
      {CUDA_ERROR_LAUNCH_FAILED, "CUDA_ERROR_LAUNCH_FAILED"},
      {CUDA_ERROR_SYSTEM_NOT_READY, "CUDA_ERROR_SYSTEM_NOT_READY"},
      {CUDA_ERROR_SYSTEM_DRIVER_MISMATCH, "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH"},
      {CUDA_ERROR_UNKNOWN, "CUDA_ERROR_UNKNOWN"}};
  const auto found = names.find(result);
  if (found == names.end()) return kInvalidValue;
  *name = found->second;
  return CUDA_SUCCESS;
}
