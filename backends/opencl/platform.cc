#include "opencl/platform.h"

#include <cstdio>
#include <mutex>
#include <string>

#include "base/error.h"
#include "base/words.h"
#include "opencl/pocl.h"

namespace rc::opencl {
namespace {

// Of extensions that the headers of 1.2 need not have.
constexpr cl_device_info kUuid = 0x106A;        // cl_khr_device_uuid
constexpr cl_device_info kPciBusInfo = 0x410F;  // cl_khr_pci_bus_info
constexpr cl_device_info kBusNv = 0x4008;       // cl_nv_device_attribute_query
constexpr cl_device_info kSlotNv = 0x4009;      // device and function
constexpr cl_device_info kDomainNv = 0x400A;
constexpr cl_device_info kFreeMemoryAmd = 0x4039;  // KiB: total, largest block

struct PciBusInfo {
  cl_uint domain, bus, device, function;
};

// "OpenCL 3.0 ..." to 300; 0 if it is not like that.
int version_of(const std::string& text) {
  int major = 0;
  int minor = 0;
  if (std::sscanf(text.c_str(), "OpenCL %d.%d", &major, &minor) != 2) return 0;
  return major * 100 + minor * 10;
}

// Why a device cannot be used; "" if it can.
std::string unusable(cl_device_id device) {
  const std::string version = device_text(device, CL_DEVICE_VERSION);
  if (version_of(version) < 120) return version + " is older than OpenCL 1.2";
  if (!device_property<cl_bool>(device, CL_DEVICE_AVAILABLE)) {
    return "it is not available";
  }
  if (!device_property<cl_bool>(device, CL_DEVICE_COMPILER_AVAILABLE)) {
    return "it has no compiler";
  }
  if (!device_property<cl_bool>(device, CL_DEVICE_ENDIAN_LITTLE)) {
    return "it is big-endian";
  }
  return "";
}

std::vector<cl_device_id> find() {
  cl_uint count = 0;
  cl_int code = api().GetPlatformIDs(0, nullptr, &count);
  std::vector<cl_platform_id> platforms(code == CL_SUCCESS ? count : 0);
  if (!platforms.empty()) {
    check(api().GetPlatformIDs(count, platforms.data(), nullptr),
          "clGetPlatformIDs");
  }
  if (platforms.empty()) {
    fail(RC_E_BACKEND_UNAVAILABLE,
         "the OpenCL loader knows no platform; a driver has to be installed "
         "(for processors pocl-opencl-icd)");
  }
  std::vector<cl_device_id> found;
  std::string reasons;
  for (cl_platform_id platform : platforms) {
    code = api().GetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 0, nullptr, &count);
    if (code == CL_DEVICE_NOT_FOUND || (code == CL_SUCCESS && count == 0)) {
      continue;
    }
    check(code, "clGetDeviceIDs");
    std::vector<cl_device_id> all(count);
    check(api().GetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, count, all.data(),
                             nullptr),
          "clGetDeviceIDs");
    const std::string missing = missing_linker(platform);
    for (cl_device_id device : all) {
      const std::string reason = missing.empty() ? unusable(device) : missing;
      if (reason.empty()) {
        found.push_back(device);
      } else {
        reasons += cat("; ", device_text(device, CL_DEVICE_NAME), ": ", reason);
      }
    }
  }
  if (found.empty()) {
    fail(RC_E_BACKEND_UNAVAILABLE, "none of ", platforms.size(),
         " OpenCL platforms has a device that can be used", reasons);
  }
  return found;
}

rc_device_kind kind_of(cl_device_id device) {
  const auto type = device_property<cl_device_type>(device, CL_DEVICE_TYPE);
  if ((type & CL_DEVICE_TYPE_CPU) != 0) return RC_DEVICE_SOFTWARE;
  if ((type & CL_DEVICE_TYPE_GPU) != 0) {
    return device_property<cl_bool>(device, CL_DEVICE_HOST_UNIFIED_MEMORY)
               ? RC_DEVICE_GPU_INTEGRATED
               : RC_DEVICE_GPU_DISCRETE;
  }
  if ((type & CL_DEVICE_TYPE_ACCELERATOR) != 0) return RC_DEVICE_ACCELERATOR;
  return RC_DEVICE_OTHER;
}

// "pci:DDDD:BB:DD.F", else "uuid:<32 hex digits>", else "". A processor is
// none of these.
std::string physical_id(cl_device_id device) {
  if (kind_of(device) == RC_DEVICE_SOFTWARE) return "";
  PciBusInfo pci{};
  bool found = has_extension(device, "cl_khr_pci_bus_info") &&
               find_device_property(device, kPciBusInfo, &pci);
  if (!found && has_extension(device, "cl_nv_device_attribute_query")) {
    cl_uint slot = 0;
    found = find_device_property(device, kBusNv, &pci.bus) &&
            find_device_property(device, kSlotNv, &slot);
    pci.device = slot >> 3;
    pci.function = slot & 7;
    if (!find_device_property(device, kDomainNv, &pci.domain)) pci.domain = 0;
  }
  char text[64];
  if (found) {
    std::snprintf(text, sizeof text, "pci:%04x:%02x:%02x.%x", pci.domain,
                  pci.bus, pci.device, pci.function);
    return text;
  }
  struct {
    unsigned char bytes[16];
  } uuid;
  if (!has_extension(device, "cl_khr_device_uuid") ||
      !find_device_property(device, kUuid, &uuid)) {
    return "";
  }
  std::string id = "uuid:";
  for (unsigned char byte : uuid.bytes) {
    std::snprintf(text, sizeof text, "%02x", byte);
    id += text;
  }
  return id;
}

}  // namespace

const std::vector<cl_device_id>& devices() {
  // Looked for again after a failure.
  static const std::vector<cl_device_id> found = find();
  return found;
}

cl_device_id device_by_number(int32_t index) {
  const auto& all = devices();
  if (index < 0 || static_cast<size_t>(index) >= all.size()) {
    fail(RC_E_NOT_FOUND, "there is no device opencl:", index, "; there ",
         all.size() == 1 ? "is" : "are", " ", all.size());
  }
  return all[index];
}

bool has_extension(cl_device_id device, const char* name) {
  const std::string names = device_text(device, CL_DEVICE_EXTENSIONS);
  std::string_view rest = names;
  while (const auto word = take_word(rest)) {
    if (*word == name) return true;
  }
  return false;
}

rc_plugin_device_info describe(cl_device_id device) {
  rc_plugin_device_info info{};
  info.struct_size = sizeof info;
  std::snprintf(info.name, sizeof info.name, "%s",
                device_text(device, CL_DEVICE_NAME).c_str());
  info.kind = kind_of(device);
  info.total_memory =
      device_property<cl_ulong>(device, CL_DEVICE_GLOBAL_MEM_SIZE);
  struct {
    size_t kib[2];
  } free_memory;
  if (has_extension(device, "cl_amd_device_attribute_query") &&
      find_device_property(device, kFreeMemoryAmd, &free_memory)) {
    info.free_memory = static_cast<uint64_t>(free_memory.kib[0]) * 1024;
  }
  info.unified_memory =
      device_property<cl_bool>(device, CL_DEVICE_HOST_UNIFIED_MEMORY) ? 1 : 0;
  info.cores = static_cast<int32_t>(
      device_property<cl_uint>(device, CL_DEVICE_MAX_COMPUTE_UNITS));
  std::string features;
  const std::string names = device_text(device, CL_DEVICE_EXTENSIONS);
  std::string_view rest = names;
  while (const auto word = take_word(rest)) {
    // Those that say what arithmetic there is; there may be a hundred others.
    if (*word == "cl_khr_fp16" || *word == "cl_khr_fp64" ||
        *word == "cl_khr_subgroups" || *word == "cl_intel_subgroups" ||
        *word == "cl_khr_integer_dot_product") {
      if (!features.empty()) features += ' ';
      features += *word;
    }
  }
  std::snprintf(info.features, sizeof info.features, "%s", features.c_str());
  info.fp16 = has_extension(device, "cl_khr_fp16") ? 1 : 0;
  info.fp64 = has_extension(device, "cl_khr_fp64") ? 1 : 0;
  info.int8_dot = has_extension(device, "cl_khr_integer_dot_product") ? 1 : 0;
  std::snprintf(info.driver, sizeof info.driver, "%s, driver %s",
                device_text(device, CL_DEVICE_VERSION).c_str(),
                device_text(device, CL_DRIVER_VERSION).c_str());
  std::snprintf(info.physical_id, sizeof info.physical_id, "%s",
                physical_id(device).c_str());
  return info;
}

}  // namespace rc::opencl
