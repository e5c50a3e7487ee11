#include "rocm/platform.h"

#include <cstdio>
#include <string_view>

#include "base/error.h"
#include "rocm/comgr.h"
#include "rocm/hip.h"
#include "streams/physical_id.h"

namespace rc::rocm {
namespace {

int attribute(int32_t number, hipDeviceAttribute_t which) {
  int value = 0;
  check(hip().DeviceGetAttribute(&value, which, number),
        "hipDeviceGetAttribute");
  return value;
}

bool is_integrated(int32_t number) {
  return attribute(number, hipDeviceAttributeIntegrated) != 0;
}

int32_t find_count() {
  int count = 0;
  check(hip().GetDeviceCount(&count), "hipGetDeviceCount");
  if (count == 0) {
    fail(RC_E_BACKEND_UNAVAILABLE,
         "HIP has no device; see what rocminfo lists");
  }
  // Without it no kernel runs.
  static_cast<void>(comgr());
  return count;
}

// "pci:DDDD:BB:DD.F"; "" if there is none.
std::string physical_id(int32_t number) {
  char id[32] = "";
  if (hip().is_stand_in ||
      hip().DeviceGetPCIBusId(id, sizeof id, number) != hipSuccess) {
    return "";
  }
  return streams::physical_id(id);
}

}  // namespace

int32_t device_count() {
  // Looked for again after a failure.
  static const int32_t found = find_count();
  return found;
}

void check_device(int32_t number) {
  const int32_t count = device_count();
  if (number < 0 || number >= count) {
    fail(RC_E_NOT_FOUND, "there is no device rocm:", number, "; there ",
         count == 1 ? "is" : "are", " ", count);
  }
}

rc_plugin_device_info describe(int32_t number) {
  check_device(number);
  rc_plugin_device_info info{};
  info.struct_size = sizeof info;
  check(hip().DeviceGetName(info.name, sizeof info.name, number),
        "hipDeviceGetName");
  const std::string isa = isa_of(number);
  // Some versions have no names.
  if (info.name[0] == '\0') {
    std::snprintf(info.name, sizeof info.name, "AMD %s", isa.c_str());
  }
  if (hip().is_stand_in) {
    info.kind = RC_DEVICE_SOFTWARE;
  } else {
    info.kind = is_integrated(number) ? RC_DEVICE_GPU_INTEGRATED
                                      : RC_DEVICE_GPU_DISCRETE;
  }
  info.total_memory = total_memory(number);
  // hipMemGetInfo would initialize the device.
  info.unified_memory = is_integrated(number) ? 1 : 0;
  info.cores = attribute(number, hipDeviceAttributeMultiprocessorCount);
  std::snprintf(info.features, sizeof info.features, "%s", isa.c_str());
  info.fp16 = info.fp64 = info.int8_dot = 1;
  int version = 0;
  check(hip().RuntimeGetVersion(&version), "hipRuntimeGetVersion");
  std::snprintf(info.driver, sizeof info.driver, "HIP %d.%d",
                version / 10000000, version / 100000 % 100);
  std::snprintf(info.physical_id, sizeof info.physical_id, "%s",
                physical_id(number).c_str());
  return info;
}

std::string isa_of(int32_t number) {
  // hipDeviceProp_t has had two layouts. Both begin with 256 bytes of a name,
  // and have one other text, gcnArchName, which begins with "gfx"; both are
  // smaller than this.
  constexpr size_t kNameBytes = 256;
  std::string properties(8192, '\0');
  check(hip().GetDeviceProperties(properties.data(), number),
        "hipGetDeviceProperties");
  const size_t at = properties.find("gfx", kNameBytes);
  if (at == std::string::npos) {
    fail(RC_E_BACKEND_UNAVAILABLE,
         "hipGetDeviceProperties does not say what GPU rocm:", number, " is");
  }
  return properties.c_str() + at;
}

uint64_t total_memory(int32_t number) {
  size_t bytes = 0;
  check(hip().DeviceTotalMem(&bytes, number), "hipDeviceTotalMem");
  return bytes;
}

}  // namespace rc::rocm
