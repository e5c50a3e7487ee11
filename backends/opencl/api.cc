#include "opencl/api.h"

#include <cstdlib>
#include <mutex>

#include "base/error.h"
#include "base/library.h"

namespace rc::opencl {
namespace {

// The codes that people meet.
const char* code_name(cl_int code) {
  switch (code) {
#define RC_OPENCL_CODE(name) \
  case name:                 \
    return #name;
    RC_OPENCL_CODE(CL_DEVICE_NOT_FOUND)
    RC_OPENCL_CODE(CL_DEVICE_NOT_AVAILABLE)
    RC_OPENCL_CODE(CL_COMPILER_NOT_AVAILABLE)
    RC_OPENCL_CODE(CL_MEM_OBJECT_ALLOCATION_FAILURE)
    RC_OPENCL_CODE(CL_OUT_OF_RESOURCES)
    RC_OPENCL_CODE(CL_OUT_OF_HOST_MEMORY)
    RC_OPENCL_CODE(CL_BUILD_PROGRAM_FAILURE)
    RC_OPENCL_CODE(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST)
    RC_OPENCL_CODE(CL_INVALID_VALUE)
    RC_OPENCL_CODE(CL_INVALID_DEVICE)
    RC_OPENCL_CODE(CL_INVALID_CONTEXT)
    RC_OPENCL_CODE(CL_INVALID_COMMAND_QUEUE)
    RC_OPENCL_CODE(CL_INVALID_MEM_OBJECT)
    RC_OPENCL_CODE(CL_INVALID_KERNEL_ARGS)
    RC_OPENCL_CODE(CL_INVALID_WORK_GROUP_SIZE)
    RC_OPENCL_CODE(CL_INVALID_WORK_ITEM_SIZE)
    RC_OPENCL_CODE(CL_INVALID_BUFFER_SIZE)
#undef RC_OPENCL_CODE
  }
  return "code";
}

rc_status status_of(cl_int code) {
  switch (code) {
    case CL_OUT_OF_RESOURCES:
    case CL_MEM_OBJECT_ALLOCATION_FAILURE:
    case CL_INVALID_BUFFER_SIZE:  // larger than the device allows
      return RC_E_DEVICE_MEMORY;
    case CL_OUT_OF_HOST_MEMORY:
      return RC_E_OUT_OF_MEMORY;
    case CL_DEVICE_NOT_AVAILABLE:
    case CL_INVALID_DEVICE:
    case CL_INVALID_CONTEXT:
    case CL_INVALID_COMMAND_QUEUE:
    case CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST:
      return RC_E_DEVICE_LOST;
  }
  // Drivers report lost devices with private codes.
  return code <= -9999 ? RC_E_DEVICE_LOST : RC_E_DEVICE;
}

// See rocm/hip.cc: one of the drivers may be PoCL.
void check_no_other_clang() {
  if (rc::Library::is_in_process("libamd_comgr.so") &&
      rc::Library::is_in_process("libLLVM") &&
      !rc::Library::is_in_process("libclang-cpp.so")) {
    fail(RC_E_BACKEND_UNAVAILABLE,
         "the process has loaded AMD's compiler already; PoCL might share an "
         "LLVM library with it, and both together might end the process: open "
         "opencl before rocm, or leave one of them out");
  }
}

// The loader stays loaded: its drivers have threads.
const Api& load() {
  check_no_other_clang();
  const char* name = std::getenv("RUNCIBLE_OPENCL_LIBRARY");
  if (name == nullptr || *name == '\0') name = "libOpenCL.so.1";
  rc::Library library = rc::Library::load(name);
  if (!library.is_loaded()) {
    const std::string& reason = library.failure();
    fail(RC_E_BACKEND_UNAVAILABLE, "the OpenCL loader ", name,
         " cannot be loaded (", reason.empty() ? "no reason given" : reason,
         "); it comes with graphics drivers or a package such as "
         "ocl-icd-libopencl1");
  }
  static Api functions;
  Api found{};
#define RC_OPENCL_FIND(function)                                             \
  if (!library.find(found.function, "cl" #function)) {                       \
    fail(RC_E_BACKEND_UNAVAILABLE, "the OpenCL loader ", name, " has no cl", \
         #function, "; OpenCL 1.2 is needed");                               \
  }
  RC_OPENCL_FUNCTIONS(RC_OPENCL_FIND)
#undef RC_OPENCL_FIND
  library.keep();
  functions = found;
  return functions;
}

}  // namespace

const Api& api() {
  // Tried again after a failure.
  static const Api& loaded = load();
  return loaded;
}

void fail_call(cl_int code, const char* call) {
  fail(status_of(code), call, " failed: ", code_name(code), " (", code, ")");
}

void check(cl_int code, const char* call) {
  if (code != CL_SUCCESS) fail_call(code, call);
}

namespace {

// The text that a query such as clGetDeviceInfo gives for a name, up to its
// end.
template <class Query, class Object, class Name>
std::string text_of(Query query, Object object, Name name, const char* call) {
  size_t bytes = 0;
  check(query(object, name, 0, nullptr, &bytes), call);
  std::string text(bytes, '\0');
  check(query(object, name, bytes, text.data(), nullptr), call);
  text.resize(text.find('\0') != std::string::npos ? text.find('\0') : bytes);
  return text;
}

}  // namespace

std::string platform_text(cl_platform_id platform, cl_platform_info name) {
  return text_of(api().GetPlatformInfo, platform, name, "clGetPlatformInfo");
}

std::string device_text(cl_device_id device, cl_device_info name) {
  return text_of(api().GetDeviceInfo, device, name, "clGetDeviceInfo");
}

std::string build_log(cl_program program, cl_device_id device) {
  size_t bytes = 0;
  if (api().GetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, 0,
                                nullptr, &bytes) != CL_SUCCESS) {
    return "";
  }
  std::string text(bytes, '\0');
  if (api().GetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, bytes,
                                text.data(), nullptr) != CL_SUCCESS) {
    return "";
  }
  return text.substr(0, text.find('\0'));
}

}  // namespace rc::opencl
