// The functions of HIP, AMD's runtime, taken from its library at run time.
//
// The declarations follow hip_runtime_api.h of ROCm 5.0 and later, whose
// versions all have them under these names. Thread-safe, as HIP is; nearly
// every function works on the device that is current on the calling thread.
#pragma once

#include <cstddef>
#include <cstdint>

namespace rc::rocm {

using hipError_t = int;
using hipStream_t = struct ihipStream_t*;
using hipEvent_t = struct ihipEvent_t*;
using hipModule_t = struct ihipModule_t*;
using hipFunction_t = struct ihipModuleSymbol_t*;
using hipGraph_t = struct ihipGraph*;
using hipGraphExec_t = struct hipGraphExec*;

inline constexpr hipError_t hipSuccess = 0;
inline constexpr hipError_t hipErrorOutOfMemory = 2;
inline constexpr hipError_t hipErrorNotInitialized = 3;
inline constexpr hipError_t hipErrorInsufficientDriver = 35;
inline constexpr hipError_t hipErrorNoDevice = 100;
inline constexpr hipError_t hipErrorInvalidDevice = 101;
inline constexpr hipError_t hipErrorNoBinaryForGpu = 209;
inline constexpr hipError_t hipErrorECCNotCorrectable = 214;
inline constexpr hipError_t hipErrorNotReady = 600;
inline constexpr hipError_t hipErrorIllegalAddress = 700;
inline constexpr hipError_t hipErrorLaunchTimeOut = 702;
inline constexpr hipError_t hipErrorContextIsDestroyed = 709;
inline constexpr hipError_t hipErrorAssert = 710;
inline constexpr hipError_t hipErrorLaunchFailure = 719;
inline constexpr hipError_t hipErrorUnknown = 999;
inline constexpr hipError_t hipErrorRuntimeMemory = 1052;
inline constexpr hipError_t hipErrorRuntimeOther = 1053;

enum hipDeviceAttribute_t : int {
  hipDeviceAttributeIntegrated = 16,
  hipDeviceAttributeMultiprocessorCount = 63
};
enum hipMemcpyKind : int {
  hipMemcpyHostToDevice = 1,
  hipMemcpyDeviceToHost = 2,
  hipMemcpyDefault = 4
};
inline constexpr unsigned hipStreamNonBlocking = 1;
inline constexpr int hipStreamCaptureModeRelaxed = 2;
inline constexpr unsigned hipEventDefault = 0;
inline constexpr unsigned hipEventBlockingSync = 1;
inline constexpr unsigned hipEventDisableTiming = 2;
inline constexpr unsigned hipHostMallocPortable = 1;
// Of the last argument of hipModuleLaunchKernel.
inline void* const HIP_LAUNCH_PARAM_BUFFER_POINTER = reinterpret_cast<void*>(1);
inline void* const HIP_LAUNCH_PARAM_BUFFER_SIZE = reinterpret_cast<void*>(2);
inline void* const HIP_LAUNCH_PARAM_END = reinterpret_cast<void*>(3);

// Every function that the backend calls: its member of Hip, and its arguments;
// in the library its name begins with "hip".
#define RC_HIP_FUNCTIONS(F)                                                \
  F(Init, (unsigned))                                                      \
  F(RuntimeGetVersion, (int*))                                             \
  F(GetDeviceCount, (int*))                                                \
  F(GetDevice, (int*))                                                     \
  F(SetDevice, (int))                                                      \
  F(DeviceGetName, (char*, int, int))                                      \
  F(DeviceGetAttribute, (int*, hipDeviceAttribute_t, int))                 \
  F(DeviceTotalMem, (size_t*, int))                                        \
  F(DeviceGetPCIBusId, (char*, int, int))                                  \
  F(Malloc, (void**, size_t))                                              \
  F(Free, (void*))                                                         \
  F(HostMalloc, (void**, size_t, unsigned))                                \
  F(HostFree, (void*))                                                     \
  F(MemcpyAsync, (void*, const void*, size_t, hipMemcpyKind, hipStream_t)) \
  F(MemsetAsync, (void*, int, size_t, hipStream_t))                        \
  F(StreamCreateWithFlags, (hipStream_t*, unsigned))                       \
  F(StreamDestroy, (hipStream_t))                                          \
  F(StreamSynchronize, (hipStream_t))                                      \
  F(StreamBeginCapture, (hipStream_t, int))                                \
  F(StreamEndCapture, (hipStream_t, hipGraph_t*))                          \
  F(EventCreateWithFlags, (hipEvent_t*, unsigned))                         \
  F(EventDestroy, (hipEvent_t))                                            \
  F(EventRecord, (hipEvent_t, hipStream_t))                                \
  F(EventQuery, (hipEvent_t))                                              \
  F(EventSynchronize, (hipEvent_t))                                        \
  F(EventElapsedTime, (float*, hipEvent_t, hipEvent_t))                    \
  F(GraphInstantiateWithFlags,                                             \
    (hipGraphExec_t*, hipGraph_t, unsigned long long))                     \
  F(GraphDestroy, (hipGraph_t))                                            \
  F(GraphExecDestroy, (hipGraphExec_t))                                    \
  F(GraphLaunch, (hipGraphExec_t, hipStream_t))                            \
  F(ModuleLoadData, (hipModule_t*, const void*))                           \
  F(ModuleUnload, (hipModule_t))                                           \
  F(ModuleGetFunction, (hipFunction_t*, hipModule_t, const char*))         \
  F(ModuleLaunchKernel,                                                    \
    (hipFunction_t, unsigned, unsigned, unsigned, unsigned, unsigned,      \
     unsigned, unsigned, hipStream_t, void**, void**))

struct Hip {
#define RC_HIP_MEMBER(member, arguments) \
  hipError_t(*member) arguments = nullptr;
  RC_HIP_FUNCTIONS(RC_HIP_MEMBER)
#undef RC_HIP_MEMBER
  const char* (*GetErrorName)(hipError_t) = nullptr;
  // hipGetDeviceProperties of ROCm 6.0 and later, else that of 5.0. Their
  // structs differ: see platform.cc.
  hipError_t (*GetDeviceProperties)(void*, int) = nullptr;
  // Whether the library is a stand-in of tests, whose devices are no GPUs. It
  // exports a symbol of this name, `rc_hip_stand_in`.
  bool is_stand_in = false;
};

// Loads the library at the first call and initializes it: RUNCIBLE_HIP_LIBRARY,
// else that of ROCm 7, 6 or 5. Throws RC_E_BACKEND_UNAVAILABLE, saying why and
// what to do; the next call tries again.
const Hip& hip();

// Throws the status that stands for a result other than hipSuccess, naming the
// call.
void check(hipError_t result, const char* call);

// "hipErrorNoDevice", or "an unknown error".
const char* result_name(const Hip& functions, hipError_t result);

}  // namespace rc::rocm
