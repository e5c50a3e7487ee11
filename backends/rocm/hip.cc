#include "rocm/hip.h"

#include <cstdlib>
#include <string>

#include "base/error.h"
#include "base/library.h"
#include "rocm/found_library.h"

namespace rc::rocm {
namespace {

rc_status status_of(hipError_t result) {
  switch (result) {
    case hipErrorOutOfMemory:
      return RC_E_DEVICE_MEMORY;
    // After these the device can do nothing more for the process.
    case hipErrorNoDevice:
    case hipErrorECCNotCorrectable:
    case hipErrorIllegalAddress:
    case hipErrorLaunchTimeOut:
    case hipErrorContextIsDestroyed:
    case hipErrorAssert:
    case hipErrorLaunchFailure:
    case hipErrorUnknown:
    case hipErrorRuntimeMemory:
    case hipErrorRuntimeOther:
      return RC_E_DEVICE_LOST;
    default:
      return RC_E_DEVICE;
  }
}

std::string text_of_variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "not set" : cat("\"", value, "\"");
}

// The cause of a failed hipInit, and its remedy.
std::string reason_for(hipError_t result) {
  switch (result) {
    case hipErrorNoDevice:
    case hipErrorInvalidDevice:
      return cat(
          "HIP finds no GPU; see whether rocminfo lists one, whether you are "
          "in the groups render and video (groups), whether "
          "HIP_VISIBLE_DEVICES (",
          text_of_variable("HIP_VISIBLE_DEVICES"),
          ") or ROCR_VISIBLE_DEVICES (",
          text_of_variable("ROCR_VISIBLE_DEVICES"),
          ") hides it, and whether a container was started with access to GPUs "
          "(docker run --device=/dev/kfd --device=/dev/dri)");
    case hipErrorInsufficientDriver:
      return "the kernel module of the driver is older than the library needs; "
             "update the kernel, or install amdgpu-dkms";
    case hipErrorNotInitialized:
      return "the driver cannot start; see whether /dev/kfd exists and may be "
             "opened";
    default:
      return "the driver cannot start";
  }
}

constexpr const char* kLibraryNames[] = {"libamdhip64.so.7", "libamdhip64.so.6",
                                         "libamdhip64.so.5", "libamdhip64.so"};

// Clang within Debian's build of AMD's compiler, which HIP loads too, and that
// of libclang-cpp, which PoCL loads, register the same options with one LLVM
// library, which then ends the process.
void check_no_other_clang() {
  if (rc::Library::is_in_process("libclang-cpp.so") &&
      !rc::Library::is_in_process("libamd_comgr.so")) {
    fail(RC_E_BACKEND_UNAVAILABLE,
         "the process has loaded a library of Clang already; PoCL brought it, "
         "and with that of AMD's compiler it might end the process: open rocm "
         "before opencl, or hide PoCL (OCL_ICD_VENDORS)");
  }
}

const Hip& load_hip() {
  FoundLibrary found = find_library("RUNCIBLE_HIP_LIBRARY", kLibraryNames);
  rc::Library& library = found.library;
  if (!library.is_loaded()) {
    fail(RC_E_BACKEND_UNAVAILABLE, "HIP's library ", found.name,
         " cannot be loaded (", found.failure,
         "); install ROCm's HIP runtime (Debian's package libamdhip64-5, AMD's "
         "hip-runtime-amd), or name the library in RUNCIBLE_HIP_LIBRARY");
  }
  constexpr const char* kNeeded = "; HIP of ROCm 5.0 or later is needed";
  static Hip functions;
  Hip taken{};
#define RC_HIP_TAKE(member, arguments) \
  found.take(taken.member, "hip" #member, kNeeded);
  RC_HIP_FUNCTIONS(RC_HIP_TAKE)
#undef RC_HIP_TAKE
  found.take(taken.GetErrorName, "hipGetErrorName", kNeeded);
  if (!library.find(taken.GetDeviceProperties, "hipGetDevicePropertiesR0600")) {
    found.take(taken.GetDeviceProperties, "hipGetDeviceProperties", kNeeded);
  }
  taken.is_stand_in = library.find("rc_hip_stand_in") != nullptr;
  if (!taken.is_stand_in) check_no_other_clang();
  // From here on it may have threads.
  library.keep();
  const hipError_t result = taken.Init(0);
  if (result != hipSuccess) {
    fail(RC_E_BACKEND_UNAVAILABLE, "hipInit of ", found.name,
         " failed: ", result_name(taken, result), ": ", reason_for(result));
  }
  functions = taken;
  return functions;
}

}  // namespace

const Hip& hip() {
  // Tried again after a failure.
  static const Hip& loaded = load_hip();
  return loaded;
}

const char* result_name(const Hip& functions, hipError_t result) {
  const char* const name = functions.GetErrorName(result);
  return name != nullptr ? name : "an unknown error";
}

void check(hipError_t result, const char* call) {
  if (result == hipSuccess) return;
  fail(status_of(result), call, " failed: ", result_name(hip(), result), " (",
       result, ")");
}

}  // namespace rc::rocm
