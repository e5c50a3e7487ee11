#include "cuda/api.h"

#include <cstdlib>
#include <string>

#include "base/error.h"
#include "base/library.h"

namespace rc::cuda {
namespace {

rc_status status_of(CUresult result) {
  switch (result) {
    case CUDA_ERROR_OUT_OF_MEMORY:
      return RC_E_DEVICE_MEMORY;
    // After these the context can do nothing more.
    case CUDA_ERROR_DEVICE_UNAVAILABLE:
    case CUDA_ERROR_NO_DEVICE:
    case CUDA_ERROR_ECC_UNCORRECTABLE:
    case CUDA_ERROR_ILLEGAL_ADDRESS:
    case CUDA_ERROR_LAUNCH_TIMEOUT:
    case CUDA_ERROR_CONTEXT_IS_DESTROYED:
    case CUDA_ERROR_ASSERT:
    case CUDA_ERROR_LAUNCH_FAILED:
    case CUDA_ERROR_UNKNOWN:
      return RC_E_DEVICE_LOST;
  }
  const bool is_fault_of_a_kernel = result >= CUDA_ERROR_HARDWARE_STACK_ERROR &&
                                    result < CUDA_ERROR_LAUNCH_FAILED;
  return is_fault_of_a_kernel ? RC_E_DEVICE_LOST : RC_E_DEVICE;
}

std::string text_of_variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "not set" : cat("\"", value, "\"");
}

// The cause of a failed cuInit, and its remedy.
std::string reason_for(CUresult result) {
  switch (result) {
    case CUDA_ERROR_NO_DEVICE:
      return cat(
          "the driver finds no GPU; see whether nvidia-smi lists one, whether "
          "CUDA_VISIBLE_DEVICES (",
          text_of_variable("CUDA_VISIBLE_DEVICES"),
          ") hides it, and whether a container was started with access to GPUs "
          "(docker run --gpus all)");
    case CUDA_ERROR_STUB_LIBRARY:
      return "the library is the stub that the CUDA toolkit links programs "
             "with; remove its folder from the library path";
    case CUDA_ERROR_SYSTEM_NOT_READY:
      return "the system is not ready; on machines with NVSwitch "
             "nvidia-fabricmanager has to run";
    case CUDA_ERROR_SYSTEM_DRIVER_MISMATCH:
      return "the library and the kernel module of the driver have different "
             "versions; restart the machine after an update of the driver";
    case CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE:
      return "the library is of a forward compatibility package that the GPU "
             "does not support; use that of the installed driver";
    case CUDA_ERROR_UNKNOWN:
      return "the driver cannot start; see whether /dev/nvidia0 and "
             "/dev/nvidia-uvm exist and may be opened (nvidia-modprobe -u)";
    default:
      return "the driver cannot start";
  }
}

// The library stays loaded: the driver has threads.
const Api& load() {
  const char* name = std::getenv("RUNCIBLE_CUDA_LIBRARY");
  if (name == nullptr || *name == '\0') name = "libcuda.so.1";
  rc::Library library = rc::Library::load(name);
  if (!library.is_loaded()) {
    const std::string& reason = library.failure();
    fail(RC_E_BACKEND_UNAVAILABLE, "NVIDIA's driver library ", name,
         " cannot be loaded (", reason.empty() ? "no reason given" : reason,
         "); install NVIDIA's driver, and start a container with access to "
         "GPUs (docker run --gpus all)");
  }
  static Api functions;
  Api found{};
#define RC_CUDA_FIND(member, symbol, arguments)                              \
  if (!library.find(found.member, symbol)) {                                 \
    fail(RC_E_BACKEND_UNAVAILABLE, name,                                     \
         " has no function " symbol                                          \
         "; CUDA 11.0 is needed, which comes with the driver 450 or later"); \
  }
  RC_CUDA_FUNCTIONS(RC_CUDA_FIND)
#undef RC_CUDA_FIND
#define RC_CUDA_FIND(member, symbol, arguments) \
  static_cast<void>(library.find(found.member, symbol));
  RC_CUDA_LATER_FUNCTIONS(RC_CUDA_FIND)
#undef RC_CUDA_FIND
  found.is_stand_in = library.find("rc_cuda_stand_in") != nullptr;
  const CUresult result = found.Init(0);
  if (result != CUDA_SUCCESS) {
    fail(RC_E_BACKEND_UNAVAILABLE, "cuInit of ", name,
         " failed: ", result_name(found, result), ": ", reason_for(result));
  }
  constexpr int kNeeded = 11000;
  int version = 0;
  if (found.DriverGetVersion(&version) == CUDA_SUCCESS && version < kNeeded) {
    fail(RC_E_BACKEND_UNAVAILABLE, "the driver supports CUDA ", version / 1000,
         ".", version % 1000 / 10,
         "; 11.0 is needed, which comes with the driver 450 or later");
  }
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

const char* result_name(const Api& functions, CUresult result) {
  const char* name = nullptr;
  const bool known = functions.GetErrorName(result, &name) == CUDA_SUCCESS;
  return known && name != nullptr ? name : "an unknown error";
}

void check(CUresult result, const char* call) {
  if (result == CUDA_SUCCESS) return;
  fail(status_of(result), call, " failed: ", result_name(api(), result), " (",
       result, ")");
}

}  // namespace rc::cuda
