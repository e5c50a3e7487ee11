#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "conformance_util.h"
#include "labels.h"
#include "runtime/registry.h"

namespace rc::test {
namespace {

using runtime::Device;

// The backend of the module that RUNCIBLE_TEST_MODULE names: it is tested
// alone, and without the self-test, which would take what is wrong for
// unsupported.
std::string only_backend() {
  const char* module = std::getenv("RUNCIBLE_TEST_MODULE");
  if (module == nullptr) return {};
  void* loaded = dlopen(module, RTLD_NOW | RTLD_LOCAL);
  if (loaded == nullptr) fail(RC_E_NOT_FOUND, dlerror());
  const auto entry = reinterpret_cast<const rc_plugin* (*)()>(
      dlsym(loaded, "rc_plugin_entry"));
  if (entry == nullptr) fail(RC_E_NOT_FOUND, dlerror());
  runtime::register_plugin(*entry());
  return entry()->name;
}

bool leaves_out_drivers = false;

// Every device that opens; a device that is reported and does not is a failure.
const std::vector<std::shared_ptr<Device>>& every_device() {
  static const auto all = [] {
    std::vector<std::shared_ptr<Device>> found;
    const std::string only = only_backend();
    for (const auto& backend : runtime::discover().backends) {
      if (!only.empty() && backend.name != only) continue;
      for (size_t i = 0; i < backend.devices.size(); ++i) {
        found.push_back(
            runtime::select({cat(backend.name, ":", i), 0, {}}).device);
      }
    }
    return found;
  }();
  return all;
}

}  // namespace

std::vector<std::shared_ptr<Device>> devices() {
  std::vector<std::shared_ptr<Device>> all = every_device();
  if (leaves_out_drivers) {
    std::erase_if(all, [](const auto& device) {
      return device->id().starts_with("opencl:") ||
             device->id().starts_with("vulkan:") ||
             device->id().starts_with("webgpu:");
    });
  }
  return all;
}

OnDrivers::OnDrivers(DType dtype) {
  static constexpr DType kCommon[] = {
      RC_DTYPE_F32,  RC_DTYPE_F16,  RC_DTYPE_Q4_0,   RC_DTYPE_Q8_0,
      RC_DTYPE_Q4_K, RC_DTYPE_Q6_K, RC_DTYPE_IQ4_XS, RC_DTYPE_MXFP4};
  leaves_out_drivers = reason_to_skip({Label::kFull}) != nullptr &&
                       std::find(std::begin(kCommon), std::end(kCommon),
                                 dtype) == std::end(kCommon);
}

OnDrivers::~OnDrivers() { leaves_out_drivers = false; }

std::vector<std::string> device_ids() {
  std::vector<std::string> ids;
  for (const auto& device : devices()) ids.push_back(device->id());
  return ids;
}

}  // namespace rc::test
