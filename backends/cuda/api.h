// The functions of NVIDIA's driver library, taken from it at run time.
//
// The declarations follow the CUDA Driver API, whose versions 11.0 and later
// have all of them under these names. Thread-safe, as the driver is; nearly
// every function works on the context that is current on the calling thread.
#pragma once

#include <cstddef>
#include <cstdint>

namespace rc::cuda {

using CUresult = int;
using CUdevice = int;
using CUdeviceptr = unsigned long long;
using CUcontext = struct CUctx_st*;
using CUmodule = struct CUmod_st*;
using CUfunction = struct CUfunc_st*;
using CUstream = struct CUstream_st*;
using CUevent = struct CUevent_st*;
using CUgraph = struct CUgraph_st*;
using CUgraphExec = struct CUgraphExec_st*;

inline constexpr CUresult CUDA_SUCCESS = 0;
inline constexpr CUresult CUDA_ERROR_OUT_OF_MEMORY = 2;
inline constexpr CUresult CUDA_ERROR_STUB_LIBRARY = 34;
inline constexpr CUresult CUDA_ERROR_DEVICE_UNAVAILABLE = 46;
inline constexpr CUresult CUDA_ERROR_NO_DEVICE = 100;
inline constexpr CUresult CUDA_ERROR_INVALID_DEVICE = 101;
inline constexpr CUresult CUDA_ERROR_ECC_UNCORRECTABLE = 214;
inline constexpr CUresult CUDA_ERROR_NOT_READY = 600;
inline constexpr CUresult CUDA_ERROR_ILLEGAL_ADDRESS = 700;
inline constexpr CUresult CUDA_ERROR_LAUNCH_TIMEOUT = 702;
inline constexpr CUresult CUDA_ERROR_CONTEXT_IS_DESTROYED = 709;
inline constexpr CUresult CUDA_ERROR_ASSERT = 710;
inline constexpr CUresult CUDA_ERROR_HARDWARE_STACK_ERROR = 714;
inline constexpr CUresult CUDA_ERROR_LAUNCH_FAILED = 719;
inline constexpr CUresult CUDA_ERROR_SYSTEM_NOT_READY = 802;
inline constexpr CUresult CUDA_ERROR_SYSTEM_DRIVER_MISMATCH = 803;
inline constexpr CUresult CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE = 804;
inline constexpr CUresult CUDA_ERROR_UNKNOWN = 999;

enum CUdevice_attribute : int {
  CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT = 16,
  CU_DEVICE_ATTRIBUTE_INTEGRATED = 18,
  CU_DEVICE_ATTRIBUTE_COMPUTE_MODE = 20,
  CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR = 75,
  CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR = 76
};
inline constexpr int CU_COMPUTEMODE_PROHIBITED = 2;

enum CUjit_option : int {
  CU_JIT_ERROR_LOG_BUFFER = 5,
  CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES = 6
};
inline constexpr unsigned CU_STREAM_NON_BLOCKING = 1;
inline constexpr int CU_STREAM_CAPTURE_MODE_RELAXED = 2;
inline constexpr unsigned CU_EVENT_DEFAULT = 0;
inline constexpr unsigned CU_EVENT_BLOCKING_SYNC = 1;
inline constexpr unsigned CU_EVENT_DISABLE_TIMING = 2;
inline constexpr unsigned CU_MEMHOSTALLOC_PORTABLE = 1;
// Of the last argument of cuLaunchKernel.
inline void* const CU_LAUNCH_PARAM_END = nullptr;
inline void* const CU_LAUNCH_PARAM_BUFFER_POINTER = reinterpret_cast<void*>(1);
inline void* const CU_LAUNCH_PARAM_BUFFER_SIZE = reinterpret_cast<void*>(2);

// Every function that the backend calls: its member of Api, its name in the
// library, and its arguments.
#define RC_CUDA_FUNCTIONS(F)                                                 \
  F(Init, "cuInit", (unsigned))                                              \
  F(DriverGetVersion, "cuDriverGetVersion", (int*))                          \
  F(GetErrorName, "cuGetErrorName", (CUresult, const char**))                \
  F(DeviceGetCount, "cuDeviceGetCount", (int*))                              \
  F(DeviceGet, "cuDeviceGet", (CUdevice*, int))                              \
  F(DeviceGetName, "cuDeviceGetName", (char*, int, CUdevice))                \
  F(DeviceGetAttribute, "cuDeviceGetAttribute",                              \
    (int*, CUdevice_attribute, CUdevice))                                    \
  F(DeviceTotalMem, "cuDeviceTotalMem_v2", (size_t*, CUdevice))              \
  F(DeviceGetPCIBusId, "cuDeviceGetPCIBusId", (char*, int, CUdevice))        \
  F(DevicePrimaryCtxRetain, "cuDevicePrimaryCtxRetain",                      \
    (CUcontext*, CUdevice))                                                  \
  F(DevicePrimaryCtxRelease, "cuDevicePrimaryCtxRelease_v2", (CUdevice))     \
  F(CtxPushCurrent, "cuCtxPushCurrent_v2", (CUcontext))                      \
  F(CtxPopCurrent, "cuCtxPopCurrent_v2", (CUcontext*))                       \
  F(MemAlloc, "cuMemAlloc_v2", (CUdeviceptr*, size_t))                       \
  F(MemFree, "cuMemFree_v2", (CUdeviceptr))                                  \
  F(MemHostAlloc, "cuMemHostAlloc", (void**, size_t, unsigned))              \
  F(MemFreeHost, "cuMemFreeHost", (void*))                                   \
  F(MemcpyHtoDAsync, "cuMemcpyHtoDAsync_v2",                                 \
    (CUdeviceptr, const void*, size_t, CUstream))                            \
  F(MemcpyDtoHAsync, "cuMemcpyDtoHAsync_v2",                                 \
    (void*, CUdeviceptr, size_t, CUstream))                                  \
  F(MemcpyAsync, "cuMemcpyAsync",                                            \
    (CUdeviceptr, CUdeviceptr, size_t, CUstream))                            \
  F(MemsetD8Async, "cuMemsetD8Async",                                        \
    (CUdeviceptr, unsigned char, size_t, CUstream))                          \
  F(StreamCreate, "cuStreamCreate", (CUstream*, unsigned))                   \
  F(StreamDestroy, "cuStreamDestroy_v2", (CUstream))                         \
  F(StreamSynchronize, "cuStreamSynchronize", (CUstream))                    \
  F(EventCreate, "cuEventCreate", (CUevent*, unsigned))                      \
  F(EventDestroy, "cuEventDestroy_v2", (CUevent))                            \
  F(EventRecord, "cuEventRecord", (CUevent, CUstream))                       \
  F(EventQuery, "cuEventQuery", (CUevent))                                   \
  F(EventSynchronize, "cuEventSynchronize", (CUevent))                       \
  F(EventElapsedTime, "cuEventElapsedTime", (float*, CUevent, CUevent))      \
  F(ModuleLoadDataEx, "cuModuleLoadDataEx",                                  \
    (CUmodule*, const void*, unsigned, CUjit_option*, void**))               \
  F(ModuleUnload, "cuModuleUnload", (CUmodule))                              \
  F(ModuleGetFunction, "cuModuleGetFunction",                                \
    (CUfunction*, CUmodule, const char*))                                    \
  F(LaunchKernel, "cuLaunchKernel",                                          \
    (CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, \
     unsigned, CUstream, void**, void**))

// Those that came later, which are nullptr where the library does not have
// them.
#define RC_CUDA_LATER_FUNCTIONS(F)                                  \
  F(StreamBeginCapture, "cuStreamBeginCapture_v2", (CUstream, int)) \
  F(StreamEndCapture, "cuStreamEndCapture", (CUstream, CUgraph*))   \
  F(GraphInstantiate, "cuGraphInstantiateWithFlags",                \
    (CUgraphExec*, CUgraph, unsigned long long))                    \
  F(GraphDestroy, "cuGraphDestroy", (CUgraph))                      \
  F(GraphExecDestroy, "cuGraphExecDestroy", (CUgraphExec))          \
  F(GraphLaunch, "cuGraphLaunch", (CUgraphExec, CUstream))

struct Api {
#define RC_CUDA_MEMBER(member, name, arguments) \
  CUresult(*member) arguments = nullptr;
  RC_CUDA_FUNCTIONS(RC_CUDA_MEMBER)
  RC_CUDA_LATER_FUNCTIONS(RC_CUDA_MEMBER)
#undef RC_CUDA_MEMBER
  // Whether the library is a stand-in of tests, whose devices are no GPUs. It
  // exports a symbol of this name, `rc_cuda_stand_in`.
  bool is_stand_in = false;

  // CUDA 11.4 and later.
  bool has_graphs() const { return GraphInstantiate != nullptr; }
};

// Loads the driver's library at the first call and initializes it:
// RUNCIBLE_CUDA_LIBRARY, else libcuda.so.1. Throws RC_E_BACKEND_UNAVAILABLE,
// saying why and what to do; the next call tries again.
const Api& api();

// Throws the status that stands for a result other than CUDA_SUCCESS, naming
// the call.
void check(CUresult result, const char* call);

// "CUDA_ERROR_NO_DEVICE", or "an unknown error".
const char* result_name(const Api& functions, CUresult result);

}  // namespace rc::cuda
