#include "cuda/platform.h"

#include <cstdio>
#include <iterator>

#include "base/error.h"
#include "cuda/variants.h"
#include "streams/physical_id.h"

namespace rc::cuda {
namespace {

std::string name_of(CUdevice device) {
  char name[128] = "";
  check(api().DeviceGetName(name, sizeof name, device), "cuDeviceGetName");
  return name;
}

// Why a device cannot be used; "" if it can.
std::string unusable(CUdevice device) {
  const int found = capability(device);
  if (found < kLeastCapability) {
    return cat("its compute capability is ", found / 10, ".", found % 10,
               "; the kernels need ", kLeastCapability / 10, ".",
               kLeastCapability % 10);
  }
  if (attribute(device, CU_DEVICE_ATTRIBUTE_COMPUTE_MODE) ==
      CU_COMPUTEMODE_PROHIBITED) {
    return "its compute mode forbids programs; nvidia-smi -c DEFAULT, as root, "
           "allows them";
  }
  return "";
}

std::vector<CUdevice> find() {
  int count = 0;
  check(api().DeviceGetCount(&count), "cuDeviceGetCount");
  std::vector<CUdevice> found;
  std::string reasons;
  for (int i = 0; i < count; ++i) {
    CUdevice device = 0;
    check(api().DeviceGet(&device, i), "cuDeviceGet");
    const std::string reason = unusable(device);
    if (reason.empty()) {
      found.push_back(device);
    } else {
      reasons += cat("; ", name_of(device), ": ", reason);
    }
  }
  if (found.empty()) {
    fail(RC_E_BACKEND_UNAVAILABLE, "none of ", count,
         " CUDA devices can be used", reasons);
  }
  return found;
}

rc_device_kind kind_of(CUdevice device) {
  if (api().is_stand_in) return RC_DEVICE_SOFTWARE;
  return attribute(device, CU_DEVICE_ATTRIBUTE_INTEGRATED) != 0
             ? RC_DEVICE_GPU_INTEGRATED
             : RC_DEVICE_GPU_DISCRETE;
}

// "pci:DDDD:BB:DD.F"; "" if there is none.
std::string physical_id(CUdevice device) {
  char id[32] = "";
  if (api().is_stand_in ||
      api().DeviceGetPCIBusId(id, sizeof id, device) != CUDA_SUCCESS) {
    return "";
  }
  return streams::physical_id(id);
}

}  // namespace

int attribute(CUdevice device, CUdevice_attribute which) {
  int value = 0;
  check(api().DeviceGetAttribute(&value, which, device),
        "cuDeviceGetAttribute");
  return value;
}

int capability(CUdevice device) {
  return attribute(device, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR) * 10 +
         attribute(device, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
}

const std::vector<CUdevice>& devices() {
  // Looked for again after a failure.
  static const std::vector<CUdevice> found = find();
  return found;
}

CUdevice device_by_number(int32_t index) {
  const auto& all = devices();
  if (index < 0 || static_cast<size_t>(index) >= all.size()) {
    fail(RC_E_NOT_FOUND, "there is no device cuda:", index, "; there ",
         all.size() == 1 ? "is" : "are", " ", all.size());
  }
  return all[static_cast<size_t>(index)];
}

rc_plugin_device_info describe(CUdevice device) {
  rc_plugin_device_info info{};
  info.struct_size = sizeof info;
  std::snprintf(info.name, sizeof info.name, "%s", name_of(device).c_str());
  info.kind = kind_of(device);
  size_t bytes = 0;
  check(api().DeviceTotalMem(&bytes, device), "cuDeviceTotalMem");
  info.total_memory = bytes;
  // cuMemGetInfo would create a context, which takes a second and memory.
  info.unified_memory =
      attribute(device, CU_DEVICE_ATTRIBUTE_INTEGRATED) != 0 ? 1 : 0;
  info.cores = attribute(device, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
  std::snprintf(info.features, sizeof info.features, "sm_%d",
                capability(device));
  info.fp16 = info.fp64 = info.int8_dot = 1;
  int version = 0;
  check(api().DriverGetVersion(&version), "cuDriverGetVersion");
  std::snprintf(info.driver, sizeof info.driver, "CUDA %d.%d", version / 1000,
                version % 1000 / 10);
  std::snprintf(info.physical_id, sizeof info.physical_id, "%s",
                physical_id(device).c_str());
  return info;
}

}  // namespace rc::cuda
