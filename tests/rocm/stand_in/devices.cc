// Devices of the stand-in for HIP.
#include <cstdio>
#include <cstring>
#include <map>

#include "hip_api.h"

namespace rc::stand_in {

const char* const settings_variable = "RUNCIBLE_HIP_STAND_IN";

}  // namespace rc::stand_in

using namespace rc::rocm;
using rc::stand_in::setting;

namespace {

thread_local int current = 0;

bool is_device(int number) {
  return number >= 0 && number < setting("devices", 1);
}

// hipDeviceProp_t of ROCm 6, as far as it matters.
struct Properties {
  char name[256];
  char others[904];
  char isa[256];
  char rest[56];
};

}  // namespace

// Its presence says that the devices are no GPUs.
RC_STAND_IN const int rc_hip_stand_in = 1;
// See streams/control.h.
RC_STAND_IN void rc_hip_stand_in_fail(const char* function, long after,
                                      hipError_t result) {
  rc::stand_in::fail_after(function, after, result);
}
RC_STAND_IN long rc_hip_stand_in_calls() { return rc::stand_in::calls; }

RC_STAND_IN hipError_t hipInit(unsigned) {
  return static_cast<hipError_t>(setting("init", hipSuccess));
}
RC_STAND_IN hipError_t hipRuntimeGetVersion(int* version) {
  *version = 60342131;
  return hipSuccess;
}
RC_STAND_IN const char* hipGetErrorName(hipError_t result) {
  static const auto& names = *new std::map<hipError_t, const char*>{
      {hipSuccess, "hipSuccess"},
      {kInvalidValue, "hipErrorInvalidValue"},
      {hipErrorOutOfMemory, "hipErrorOutOfMemory"},
      {hipErrorNotInitialized, "hipErrorNotInitialized"},
      {hipErrorInsufficientDriver, "hipErrorInsufficientDriver"},
      {hipErrorNoDevice, "hipErrorNoDevice"},
      {hipErrorInvalidDevice, "hipErrorInvalidDevice"},
      {kInvalidImage, "hipErrorInvalidImage"},
      {hipErrorNoBinaryForGpu, "hipErrorNoBinaryForGpu"},
      {kNotFound, "hipErrorNotFound"},
      {hipErrorNotReady, "hipErrorNotReady"},
      {hipErrorIllegalAddress, "hipErrorIllegalAddress"},
      {hipErrorLaunchFailure, "hipErrorLaunchFailure"},
      {hipErrorUnknown, "hipErrorUnknown"}};
  const auto found = names.find(result);
  return found == names.end() ? nullptr : found->second;
}

RC_STAND_IN hipError_t hipGetDeviceCount(int* count) {
  RC_BEGIN("hipGetDeviceCount");
  *count = static_cast<int>(setting("devices", 1));
  return hipSuccess;
}
// They fail only where a device does not exist.
RC_STAND_IN hipError_t hipGetDevice(int* number) {
  ++rc::stand_in::calls;
  *number = current;
  return hipSuccess;
}
RC_STAND_IN hipError_t hipSetDevice(int number) {
  ++rc::stand_in::calls;
  if (!is_device(number)) return hipErrorInvalidDevice;
  current = number;
  return hipSuccess;
}
RC_STAND_IN hipError_t hipDeviceGetName(char* name, int bytes, int number) {
  RC_BEGIN("hipDeviceGetName");
  if (!is_device(number)) return hipErrorInvalidDevice;
  std::snprintf(name, static_cast<size_t>(bytes), "Stand-in %d of ROCm",
                number);
  return hipSuccess;
}
RC_STAND_IN hipError_t hipDeviceGetAttribute(int* value,
                                             hipDeviceAttribute_t which,
                                             int number) {
  RC_BEGIN("hipDeviceGetAttribute");
  if (!is_device(number)) return hipErrorInvalidDevice;
  switch (which) {
    case hipDeviceAttributeIntegrated:
      *value = 0;
      break;
    case hipDeviceAttributeMultiprocessorCount:
      *value = 2;
      break;
    default:
      return kInvalidValue;
  }
  return hipSuccess;
}
RC_STAND_IN hipError_t hipDeviceTotalMem(size_t* bytes, int number) {
  RC_BEGIN("hipDeviceTotalMem");
  if (!is_device(number)) return hipErrorInvalidDevice;
  *bytes = static_cast<size_t>(setting("memory", 64 << 10)) << 20;
  return hipSuccess;
}
RC_STAND_IN hipError_t hipDeviceGetPCIBusId(char* id, int bytes, int number) {
  RC_BEGIN("hipDeviceGetPCIBusId");
  if (!is_device(number)) return hipErrorInvalidDevice;
  std::snprintf(id, static_cast<size_t>(bytes), "0000:%02x:00.0", 193 + number);
  return hipSuccess;
}
RC_STAND_IN hipError_t hipGetDevicePropertiesR0600(void* properties,
                                                   int number) {
  RC_BEGIN("hipGetDevicePropertiesR0600");
  if (!is_device(number)) return hipErrorInvalidDevice;
  Properties made{};
  std::snprintf(made.name, sizeof made.name, "Stand-in %d of ROCm", number);
  std::snprintf(made.isa, sizeof made.isa, "gfx%lx:sramecc+:xnack-",
                setting("gfx", 0x90a));
  std::memcpy(properties, &made, sizeof made);
  return hipSuccess;
}
