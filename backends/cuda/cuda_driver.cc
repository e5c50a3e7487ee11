#include "cuda/cuda_driver.h"

#include "base/error.h"

namespace rc::cuda {
namespace {

// Handles are CUDA's own.
CUstream native(streams::StreamHandle handle) {
  return reinterpret_cast<CUstream>(handle);
}
CUevent native(streams::EventHandle handle) {
  return reinterpret_cast<CUevent>(handle);
}
CUmodule native(streams::ModuleHandle handle) {
  return reinterpret_cast<CUmodule>(handle);
}
CUgraph native(streams::GraphHandle handle) {
  return reinterpret_cast<CUgraph>(handle);
}
CUgraphExec native(streams::ExecHandle handle) {
  return reinterpret_cast<CUgraphExec>(handle);
}

}  // namespace

CudaDriver::CudaDriver(CUdevice device) : device_(device) {
  const CUresult result = api().DevicePrimaryCtxRetain(&context_, device);
  if (result == CUDA_ERROR_DEVICE_UNAVAILABLE) {
    fail(RC_E_BACKEND_UNAVAILABLE,
         "cuDevicePrimaryCtxRetain failed: ", result_name(api(), result),
         ": another process has the device, whose compute mode is exclusive; "
         "nvidia-smi -c DEFAULT, as root, lets several use it");
  }
  check(result, "cuDevicePrimaryCtxRetain");
}

CudaDriver::~CudaDriver() {
  static_cast<void>(api().DevicePrimaryCtxRelease(device_));
}

// The driver has a stack of contexts.
int CudaDriver::enter(int*) noexcept { return api().CtxPushCurrent(context_); }

void CudaDriver::leave(int) noexcept {
  CUcontext popped = nullptr;
  static_cast<void>(api().CtxPopCurrent(&popped));
}

void CudaDriver::check_entered(int result) const {
  check(result, "cuCtxPushCurrent");
}

streams::Address CudaDriver::allocate(uint64_t bytes) {
  CUdeviceptr made = 0;
  const CUresult result = api().MemAlloc(&made, bytes);
  if (result == CUDA_ERROR_OUT_OF_MEMORY) {
    fail(RC_E_DEVICE_MEMORY, "the device has no memory for a buffer of ", bytes,
         " bytes (cuMemAlloc)");
  }
  check(result, "cuMemAlloc");
  return made;
}

void CudaDriver::release(streams::Address memory) noexcept {
  static_cast<void>(api().MemFree(memory));
}

std::byte* CudaDriver::allocate_pinned(uint64_t bytes) {
  void* made = nullptr;
  const CUresult result =
      api().MemHostAlloc(&made, bytes, CU_MEMHOSTALLOC_PORTABLE);
  if (result == CUDA_ERROR_OUT_OF_MEMORY) {
    fail(RC_E_OUT_OF_MEMORY, "no pinned memory of ", bytes,
         " bytes (cuMemHostAlloc)");
  }
  check(result, "cuMemHostAlloc");
  return static_cast<std::byte*>(made);
}

void CudaDriver::release_pinned(std::byte* memory) noexcept {
  static_cast<void>(api().MemFreeHost(memory));
}

streams::StreamHandle CudaDriver::make_stream() {
  CUstream made = nullptr;
  check(api().StreamCreate(&made, CU_STREAM_NON_BLOCKING), "cuStreamCreate");
  return reinterpret_cast<streams::StreamHandle>(made);
}

void CudaDriver::end(streams::StreamHandle stream) noexcept {
  static_cast<void>(api().StreamDestroy(native(stream)));
}

void CudaDriver::synchronize(streams::StreamHandle stream) {
  check(api().StreamSynchronize(native(stream)), "cuStreamSynchronize");
}

void CudaDriver::copy_to_device(streams::Address target, const void* source,
                                uint64_t bytes, streams::StreamHandle stream) {
  check(api().MemcpyHtoDAsync(target, source, bytes, native(stream)),
        "cuMemcpyHtoDAsync");
}

void CudaDriver::copy_to_host(void* target, streams::Address source,
                              uint64_t bytes, streams::StreamHandle stream) {
  check(api().MemcpyDtoHAsync(target, source, bytes, native(stream)),
        "cuMemcpyDtoHAsync");
}

void CudaDriver::copy(streams::Address target, streams::Address source,
                      uint64_t bytes, streams::StreamHandle stream) {
  check(api().MemcpyAsync(target, source, bytes, native(stream)),
        "cuMemcpyAsync");
}

void CudaDriver::clear(streams::Address target, uint64_t bytes,
                       streams::StreamHandle stream) {
  check(api().MemsetD8Async(target, 0, bytes, native(stream)),
        "cuMemsetD8Async");
}

streams::EventHandle CudaDriver::make_event(bool is_timed) {
  CUevent made = nullptr;
  check(api().EventCreate(
            &made, is_timed ? CU_EVENT_DEFAULT
                            : CU_EVENT_BLOCKING_SYNC | CU_EVENT_DISABLE_TIMING),
        "cuEventCreate");
  return reinterpret_cast<streams::EventHandle>(made);
}

void CudaDriver::end(streams::EventHandle event) noexcept {
  static_cast<void>(api().EventDestroy(native(event)));
}

void CudaDriver::record(streams::EventHandle event,
                        streams::StreamHandle stream) {
  check(api().EventRecord(native(event), native(stream)), "cuEventRecord");
}

bool CudaDriver::is_over(streams::EventHandle event) {
  const CUresult result = api().EventQuery(native(event));
  if (result == CUDA_ERROR_NOT_READY) return false;
  check(result, "a kernel or a copy");
  return true;
}

void CudaDriver::wait(streams::EventHandle event) {
  check(api().EventSynchronize(native(event)), "cuEventSynchronize");
}

float CudaDriver::elapsed_ms(streams::EventHandle begin,
                             streams::EventHandle end) {
  float ms = 0;
  check(api().EventElapsedTime(&ms, native(begin), native(end)),
        "cuEventElapsedTime");
  return ms;
}

streams::ModuleHandle CudaDriver::load(const char* image, const char* name) {
  char log[4096] = "";
  CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER,
                            CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  void* values[] = {log, reinterpret_cast<void*>(sizeof log)};
  CUmodule made = nullptr;
  const CUresult result =
      api().ModuleLoadDataEx(&made, image, 2, options, values);
  if (result != CUDA_SUCCESS && log[0] != '\0') {
    fail(RC_E_DEVICE, "the driver does not compile ", name, ": ",
         result_name(api(), result), ": ", static_cast<const char*>(log));
  }
  check(result, "cuModuleLoadDataEx");
  return reinterpret_cast<streams::ModuleHandle>(made);
}

void CudaDriver::end(streams::ModuleHandle module) noexcept {
  static_cast<void>(api().ModuleUnload(native(module)));
}

streams::FunctionHandle CudaDriver::function(streams::ModuleHandle module,
                                             const char* name) {
  CUfunction found = nullptr;
  check(api().ModuleGetFunction(&found, native(module), name),
        "cuModuleGetFunction");
  return reinterpret_cast<streams::FunctionHandle>(found);
}

void CudaDriver::launch(const streams::Launch& launch,
                        streams::StreamHandle stream) {
  size_t bytes = launch.argument_bytes;
  void* extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, launch.arguments,
                   CU_LAUNCH_PARAM_BUFFER_SIZE, &bytes, CU_LAUNCH_PARAM_END};
  check(api().LaunchKernel(reinterpret_cast<CUfunction>(launch.function),
                           launch.groups[0], launch.groups[1], launch.groups[2],
                           launch.items[0], launch.items[1], launch.items[2], 0,
                           native(stream), nullptr, extra),
        "cuLaunchKernel");
}

void CudaDriver::begin_capture(streams::StreamHandle stream) {
  check(
      api().StreamBeginCapture(native(stream), CU_STREAM_CAPTURE_MODE_RELAXED),
      "cuStreamBeginCapture");
}

streams::GraphHandle CudaDriver::end_capture(streams::StreamHandle stream) {
  CUgraph made = nullptr;
  check(api().StreamEndCapture(native(stream), &made), "cuStreamEndCapture");
  return reinterpret_cast<streams::GraphHandle>(made);
}

streams::ExecHandle CudaDriver::instantiate(streams::GraphHandle graph) {
  CUgraphExec made = nullptr;
  check(api().GraphInstantiate(&made, native(graph), 0), "cuGraphInstantiate");
  return reinterpret_cast<streams::ExecHandle>(made);
}

void CudaDriver::end(streams::GraphHandle graph) noexcept {
  static_cast<void>(api().GraphDestroy(native(graph)));
}

void CudaDriver::end(streams::ExecHandle exec) noexcept {
  static_cast<void>(api().GraphExecDestroy(native(exec)));
}

void CudaDriver::launch(streams::ExecHandle exec,
                        streams::StreamHandle stream) {
  check(api().GraphLaunch(reinterpret_cast<CUgraphExec>(exec), native(stream)),
        "cuGraphLaunch");
}

}  // namespace rc::cuda
