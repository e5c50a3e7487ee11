#include "control.h"

#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <string>

namespace rc::cuda {
namespace {

std::mutex& fail_mutex = *new std::mutex;
std::string& fail_name = *new std::string;  // "": any
long fail_after = -1;  // calls before it; negative: none fails
CUresult fail_result = CUDA_SUCCESS;

}  // namespace

std::atomic<long> calls = 0;
std::atomic<CUresult> lost = CUDA_SUCCESS;

long setting(const char* name, long otherwise) {
  const char* const text = std::getenv("RUNCIBLE_CUDA_STAND_IN");
  const std::string all = text == nullptr ? "" : "," + std::string(text);
  const size_t at = all.find("," + std::string(name) + "=");
  return at == std::string::npos
             ? otherwise
             : std::atol(all.c_str() + at + std::strlen(name) + 2);
}

CUresult begin_call(const char* name) {
  ++calls;
  const std::lock_guard lock(fail_mutex);
  if (fail_after < 0 || (!fail_name.empty() && fail_name != name)) {
    return CUDA_SUCCESS;
  }
  return fail_after-- == 0 ? fail_result : CUDA_SUCCESS;
}

}  // namespace rc::cuda

using namespace rc::cuda;

// Its presence says that the devices are no GPUs.
RC_STAND_IN const int rc_cuda_stand_in = 1;
// After `after` calls of that function, or of any if it is "", one gives this
// result. Takes back the loss of the device.
RC_STAND_IN void rc_cuda_stand_in_fail(const char* function, long after,
                                       CUresult result) {
  const std::lock_guard lock(fail_mutex);
  fail_name = function;
  fail_after = after;
  fail_result = result;
  lost = CUDA_SUCCESS;
}
RC_STAND_IN long rc_cuda_stand_in_calls() { return calls; }

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
