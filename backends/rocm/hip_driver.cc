#include "rocm/hip_driver.h"

#include "base/error.h"
#include "rocm/hip.h"

namespace rc::rocm {
namespace {

// Handles and addresses are HIP's own.
hipStream_t native(streams::StreamHandle handle) {
  return reinterpret_cast<hipStream_t>(handle);
}
hipEvent_t native(streams::EventHandle handle) {
  return reinterpret_cast<hipEvent_t>(handle);
}
hipModule_t native(streams::ModuleHandle handle) {
  return reinterpret_cast<hipModule_t>(handle);
}
hipGraph_t native(streams::GraphHandle handle) {
  return reinterpret_cast<hipGraph_t>(handle);
}
hipGraphExec_t native(streams::ExecHandle handle) {
  return reinterpret_cast<hipGraphExec_t>(handle);
}
void* pointer(streams::Address address) {
  return reinterpret_cast<void*>(address);
}

}  // namespace

int HipDriver::enter(int* before) noexcept {
  const hipError_t result = hip().GetDevice(before);
  if (result != hipSuccess || *before == device_) return result;
  return hip().SetDevice(device_);
}

void HipDriver::leave(int before) noexcept {
  if (before != device_) static_cast<void>(hip().SetDevice(before));
}

void HipDriver::check_entered(int result) const {
  check(result, "hipSetDevice");
}

streams::Address HipDriver::allocate(uint64_t bytes) {
  void* made = nullptr;
  const hipError_t result = hip().Malloc(&made, bytes);
  if (result == hipErrorOutOfMemory) {
    fail(RC_E_DEVICE_MEMORY, "the device has no memory for a buffer of ", bytes,
         " bytes (hipMalloc)");
  }
  check(result, "hipMalloc");
  return reinterpret_cast<streams::Address>(made);
}

void HipDriver::release(streams::Address memory) noexcept {
  static_cast<void>(hip().Free(pointer(memory)));
}

std::byte* HipDriver::allocate_pinned(uint64_t bytes) {
  void* made = nullptr;
  const hipError_t result =
      hip().HostMalloc(&made, bytes, hipHostMallocPortable);
  if (result == hipErrorOutOfMemory) {
    fail(RC_E_OUT_OF_MEMORY, "no pinned memory of ", bytes,
         " bytes (hipHostMalloc)");
  }
  check(result, "hipHostMalloc");
  return static_cast<std::byte*>(made);
}

void HipDriver::release_pinned(std::byte* memory) noexcept {
  static_cast<void>(hip().HostFree(memory));
}

streams::StreamHandle HipDriver::make_stream() {
  hipStream_t made = nullptr;
  check(hip().StreamCreateWithFlags(&made, hipStreamNonBlocking),
        "hipStreamCreateWithFlags");
  return reinterpret_cast<streams::StreamHandle>(made);
}

void HipDriver::end(streams::StreamHandle stream) noexcept {
  static_cast<void>(hip().StreamDestroy(native(stream)));
}

void HipDriver::synchronize(streams::StreamHandle stream) {
  check(hip().StreamSynchronize(native(stream)), "hipStreamSynchronize");
}

void HipDriver::copy_to_device(streams::Address target, const void* source,
                               uint64_t bytes, streams::StreamHandle stream) {
  check(hip().MemcpyAsync(pointer(target), source, bytes, hipMemcpyHostToDevice,
                          native(stream)),
        "hipMemcpyAsync");
}

void HipDriver::copy_to_host(void* target, streams::Address source,
                             uint64_t bytes, streams::StreamHandle stream) {
  check(hip().MemcpyAsync(target, pointer(source), bytes, hipMemcpyDeviceToHost,
                          native(stream)),
        "hipMemcpyAsync");
}

void HipDriver::copy(streams::Address target, streams::Address source,
                     uint64_t bytes, streams::StreamHandle stream) {
  check(hip().MemcpyAsync(pointer(target), pointer(source), bytes,
                          hipMemcpyDefault, native(stream)),
        "hipMemcpyAsync");
}

void HipDriver::clear(streams::Address target, uint64_t bytes,
                      streams::StreamHandle stream) {
  check(hip().MemsetAsync(pointer(target), 0, bytes, native(stream)),
        "hipMemsetAsync");
}

streams::EventHandle HipDriver::make_event(bool is_timed) {
  hipEvent_t made = nullptr;
  check(hip().EventCreateWithFlags(
            &made, is_timed ? hipEventDefault
                            : hipEventBlockingSync | hipEventDisableTiming),
        "hipEventCreateWithFlags");
  return reinterpret_cast<streams::EventHandle>(made);
}

void HipDriver::end(streams::EventHandle event) noexcept {
  static_cast<void>(hip().EventDestroy(native(event)));
}

void HipDriver::record(streams::EventHandle event,
                       streams::StreamHandle stream) {
  check(hip().EventRecord(native(event), native(stream)), "hipEventRecord");
}

bool HipDriver::is_over(streams::EventHandle event) {
  const hipError_t result = hip().EventQuery(native(event));
  if (result == hipErrorNotReady) return false;
  check(result, "a kernel or a copy");
  return true;
}

void HipDriver::wait(streams::EventHandle event) {
  check(hip().EventSynchronize(native(event)), "hipEventSynchronize");
}

float HipDriver::elapsed_ms(streams::EventHandle begin,
                            streams::EventHandle end) {
  float ms = 0;
  check(hip().EventElapsedTime(&ms, native(begin), native(end)),
        "hipEventElapsedTime");
  return ms;
}

streams::ModuleHandle HipDriver::load(const char* image, const char* name) {
  hipModule_t made = nullptr;
  const hipError_t result = hip().ModuleLoadData(&made, image);
  if (result == hipErrorNoBinaryForGpu) {
    fail(RC_E_DEVICE, "HIP does not load ", name, ": ",
         result_name(hip(), result),
         ": its runtime and its compiler are of different versions of ROCm");
  }
  check(result, "hipModuleLoadData");
  return reinterpret_cast<streams::ModuleHandle>(made);
}

void HipDriver::end(streams::ModuleHandle module) noexcept {
  static_cast<void>(hip().ModuleUnload(native(module)));
}

streams::FunctionHandle HipDriver::function(streams::ModuleHandle module,
                                            const char* name) {
  hipFunction_t found = nullptr;
  check(hip().ModuleGetFunction(&found, native(module), name),
        "hipModuleGetFunction");
  return reinterpret_cast<streams::FunctionHandle>(found);
}

void HipDriver::launch(const streams::Launch& launch,
                       streams::StreamHandle stream) {
  size_t bytes = launch.argument_bytes;
  void* extra[] = {HIP_LAUNCH_PARAM_BUFFER_POINTER, launch.arguments,
                   HIP_LAUNCH_PARAM_BUFFER_SIZE, &bytes, HIP_LAUNCH_PARAM_END};
  check(
      hip().ModuleLaunchKernel(
          reinterpret_cast<hipFunction_t>(launch.function), launch.groups[0],
          launch.groups[1], launch.groups[2], launch.items[0], launch.items[1],
          launch.items[2], 0, native(stream), nullptr, extra),
      "hipModuleLaunchKernel");
}

void HipDriver::begin_capture(streams::StreamHandle stream) {
  check(hip().StreamBeginCapture(native(stream), hipStreamCaptureModeRelaxed),
        "hipStreamBeginCapture");
}

streams::GraphHandle HipDriver::end_capture(streams::StreamHandle stream) {
  hipGraph_t made = nullptr;
  check(hip().StreamEndCapture(native(stream), &made), "hipStreamEndCapture");
  return reinterpret_cast<streams::GraphHandle>(made);
}

streams::ExecHandle HipDriver::instantiate(streams::GraphHandle graph) {
  hipGraphExec_t made = nullptr;
  check(hip().GraphInstantiateWithFlags(&made, native(graph), 0),
        "hipGraphInstantiateWithFlags");
  return reinterpret_cast<streams::ExecHandle>(made);
}

void HipDriver::end(streams::GraphHandle graph) noexcept {
  static_cast<void>(hip().GraphDestroy(native(graph)));
}

void HipDriver::end(streams::ExecHandle exec) noexcept {
  static_cast<void>(hip().GraphExecDestroy(native(exec)));
}

void HipDriver::launch(streams::ExecHandle exec, streams::StreamHandle stream) {
  check(
      hip().GraphLaunch(reinterpret_cast<hipGraphExec_t>(exec), native(stream)),
      "hipGraphLaunch");
}

}  // namespace rc::rocm
