// The functions of the OpenCL loader, taken from it at run time, and handles
// that release what they hold. Thread-safe, as OpenCL is but for the arguments
// of one kernel.
#pragma once

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

#include <memory>
#include <string>
#include <type_traits>
#include <vector>

namespace rc::opencl {

// Every function of OpenCL that the backend calls, without "cl".
#define RC_OPENCL_FUNCTIONS(F) \
  F(GetPlatformIDs)            \
  F(GetPlatformInfo)           \
  F(GetDeviceIDs)              \
  F(GetDeviceInfo)             \
  F(CreateContext)             \
  F(ReleaseContext)            \
  F(CreateCommandQueue)        \
  F(ReleaseCommandQueue)       \
  F(CreateBuffer)              \
  F(ReleaseMemObject)          \
  F(CreateProgramWithSource)   \
  F(CreateProgramWithBinary)   \
  F(BuildProgram)              \
  F(GetProgramInfo)            \
  F(GetProgramBuildInfo)       \
  F(ReleaseProgram)            \
  F(CreateKernel)              \
  F(SetKernelArg)              \
  F(ReleaseKernel)             \
  F(EnqueueNDRangeKernel)      \
  F(EnqueueReadBuffer)         \
  F(EnqueueWriteBuffer)        \
  F(EnqueueCopyBuffer)         \
  F(EnqueueFillBuffer)         \
  F(EnqueueMapBuffer)          \
  F(EnqueueUnmapMemObject)     \
  F(EnqueueMarkerWithWaitList) \
  F(GetEventInfo)              \
  F(GetEventProfilingInfo)     \
  F(SetEventCallback)          \
  F(ReleaseEvent)              \
  F(Flush)                     \
  F(Finish)                    \
  F(WaitForEvents)

struct Api {
#define RC_OPENCL_MEMBER(name) std::add_pointer_t<decltype(::cl##name)> name;
  RC_OPENCL_FUNCTIONS(RC_OPENCL_MEMBER)
#undef RC_OPENCL_MEMBER
};

// Loads libOpenCL.so.1, or what RUNCIBLE_OPENCL_LIBRARY names, at the first
// call that succeeds. Throws RC_E_BACKEND_UNAVAILABLE if there is none.
const Api& api();

// Throws what a failed call means (see status_of), naming the call and its
// code.
void check(cl_int code, const char* call);
[[noreturn]] void fail_call(cl_int code, const char* call);

struct Release {
  void operator()(cl_context handle) const { api().ReleaseContext(handle); }
  void operator()(cl_command_queue handle) const {
    api().ReleaseCommandQueue(handle);
  }
  void operator()(cl_mem handle) const { api().ReleaseMemObject(handle); }
  void operator()(cl_program handle) const { api().ReleaseProgram(handle); }
  void operator()(cl_kernel handle) const { api().ReleaseKernel(handle); }
  void operator()(cl_event handle) const { api().ReleaseEvent(handle); }
};
template <class T>
using Handle = std::unique_ptr<std::remove_pointer_t<T>, Release>;
using Context = Handle<cl_context>;
using Queue = Handle<cl_command_queue>;
using Memory = Handle<cl_mem>;
using CompiledSource = Handle<cl_program>;
using Kernel = Handle<cl_kernel>;
using Event = Handle<cl_event>;

// A property of a device.
template <class T>
T device_property(cl_device_id device, cl_device_info name) {
  T value{};
  check(api().GetDeviceInfo(device, name, sizeof value, &value, nullptr),
        "clGetDeviceInfo");
  return value;
}
// The same for one that need not exist: false if it does not.
template <class T>
bool find_device_property(cl_device_id device, cl_device_info name, T* value) {
  return api().GetDeviceInfo(device, name, sizeof *value, value, nullptr) ==
         CL_SUCCESS;
}
// The texts that clGetPlatformInfo and clGetDeviceInfo give.
std::string platform_text(cl_platform_id platform, cl_platform_info name);
std::string device_text(cl_device_id device, cl_device_info name);
// The compiler's messages about a program; "" if they are not known.
std::string build_log(cl_program program, cl_device_id device);

}  // namespace rc::opencl
