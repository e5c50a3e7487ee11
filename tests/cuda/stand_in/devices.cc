// Devices and contexts of the stand-in for NVIDIA's driver library.
#include <cstdio>
#include <iterator>
#include <map>
#include <mutex>

#include "control.h"

namespace rc::cuda {
namespace {

struct Device {
  int users = 0;
};
std::mutex& device_mutex = *new std::mutex;
std::map<int, Device>& devices = *new std::map<int, Device>;

// Of a thread.
struct ContextStack {
  CUcontext contexts[16];
  size_t count;
};
thread_local ContextStack stack;

}  // namespace

CUcontext current() {
  return stack.count == 0 ? nullptr : stack.contexts[stack.count - 1];
}

}  // namespace rc::cuda

using namespace rc::cuda;
using rc::stand_in::calls;
using rc::stand_in::lost;
using rc::stand_in::setting;

RC_STAND_IN CUresult cuDeviceGetCount(int* count) {
  RC_BEGIN("cuDeviceGetCount");
  *count = static_cast<int>(setting("devices", 1));
  return CUDA_SUCCESS;
}
RC_STAND_IN CUresult cuDeviceGet(CUdevice* device, int number) {
  RC_BEGIN("cuDeviceGet");
  *device = number;
  return CUDA_SUCCESS;
}
RC_STAND_IN CUresult cuDeviceGetName(char* name, int bytes, CUdevice device) {
  RC_BEGIN("cuDeviceGetName");
  std::snprintf(name, static_cast<size_t>(bytes), "Stand-in %d of CUDA",
                device);
  return CUDA_SUCCESS;
}
RC_STAND_IN CUresult cuDeviceGetAttribute(int* value, CUdevice_attribute which,
                                          CUdevice) {
  RC_BEGIN("cuDeviceGetAttribute");
  switch (which) {
    case CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT:
      *value = 2;
      break;
    case CU_DEVICE_ATTRIBUTE_INTEGRATED:
      *value = 0;
      break;
    case CU_DEVICE_ATTRIBUTE_COMPUTE_MODE:
      *value = static_cast<int>(setting("mode", 0));
      break;
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR:
      *value = static_cast<int>(setting("capability", 75) / 10);
      break;
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR:
      *value = static_cast<int>(setting("capability", 75) % 10);
      break;
    default:
      return kInvalidValue;
  }
  return CUDA_SUCCESS;
}
RC_STAND_IN CUresult cuDeviceTotalMem_v2(size_t* bytes, CUdevice) {
  RC_BEGIN("cuDeviceTotalMem_v2");
  *bytes = static_cast<size_t>(setting("memory", 64 << 10)) << 20;
  return CUDA_SUCCESS;
}
RC_STAND_IN CUresult cuDeviceGetPCIBusId(char* id, int bytes, CUdevice device) {
  RC_BEGIN("cuDeviceGetPCIBusId");
  std::snprintf(id, static_cast<size_t>(bytes), "0000:%02X:00.0", 161 + device);
  return CUDA_SUCCESS;
}

RC_STAND_IN CUresult cuDevicePrimaryCtxRetain(CUcontext* context,
                                              CUdevice device) {
  RC_BEGIN("cuDevicePrimaryCtxRetain");
  const std::lock_guard lock(device_mutex);
  Device& used = devices[device];
  // A new context has no errors of the last one.
  if (used.users++ == 0) lost = CUDA_SUCCESS;
  *context = reinterpret_cast<CUcontext>(&used);
  return CUDA_SUCCESS;
}
RC_STAND_IN CUresult cuDevicePrimaryCtxRelease_v2(CUdevice device) {
  RC_BEGIN("cuDevicePrimaryCtxRelease_v2");
  const std::lock_guard lock(device_mutex);
  Device& used = devices[device];
  if (used.users == 0) return kInvalidContext;
  --used.users;
  return CUDA_SUCCESS;
}
// It fails only where a context and all that it has are gone.
RC_STAND_IN CUresult cuCtxPushCurrent_v2(CUcontext context) {
  ++calls;
  if (context == nullptr) return kInvalidContext;
  if (stack.count == std::size(stack.contexts)) return kInvalidContext;
  stack.contexts[stack.count++] = context;
  return CUDA_SUCCESS;
}
RC_STAND_IN CUresult cuCtxPopCurrent_v2(CUcontext* context) {
  ++calls;
  if (stack.count == 0) return kInvalidContext;
  *context = stack.contexts[--stack.count];
  return CUDA_SUCCESS;
}
