#include "webgpu/instance.h"

#include <algorithm>
#include <cstdio>

#include "base/error.h"

namespace rc::webgpu {
namespace {

// Never destroyed: adapters and devices may be in use.
abi::Instance instance() {
  static const abi::Instance made = [] {
    const Lock lock;
    const abi::Instance instance = wgpu().CreateInstance(nullptr);
    if (instance == nullptr) {
      fail(RC_E_BACKEND_UNAVAILABLE, implementation(),
           " made no instance of WebGPU");
    }
    return instance;
  }();
  return made;
}

struct AdapterAnswer {
  bool given = false;
  AdapterHandle adapter;
  std::string message;
};

void take_adapter(uint32_t status, abi::Adapter adapter, abi::Text message,
                  void* answer_, void*) {
  auto* answer = static_cast<AdapterAnswer*>(answer_);
  answer->given = true;
  answer->adapter = AdapterHandle(adapter);
  if (status != abi::kSuccess) answer->message = string(message);
}

AdapterAnswer ask(const abi::AdapterOptions& options) {
  AdapterAnswer answer;
  {
    const abi::Instance from = instance();
    const Lock lock;
    wgpu().InstanceRequestAdapter(
        from, &options,
        {nullptr, abi::kWithEvents, take_adapter, &answer, nullptr});
  }
  process_until([&] { return answer.given; });
  return answer;
}

const char* interface_name(uint32_t interface) {
  static constexpr const char* kNames[] = {"an unknown interface",
                                           "nothing",
                                           "WebGPU",
                                           "Direct3D 11",
                                           "Direct3D 12",
                                           "Metal",
                                           "Vulkan",
                                           "OpenGL",
                                           "OpenGL ES"};
  return interface < std::size(kNames) ? kNames[interface] : kNames[0];
}

Found described(abi::Adapter adapter, const abi::AdapterOptions& options) {
  Found found = {options, "", "", 0, "", false, false};
  abi::AdapterInfo info = {};
  const Lock lock;
  wgpu().AdapterGetInfo(adapter, &info);
  found.name = string(info.device);
  const std::string version = string(info.description);
  found.driver =
      cat("WebGPU",
          info.interface == abi::kWebGpu
              ? ""  // a browser does not report the driver
              : cat(" on ", interface_name(info.interface)),
          version.empty() ? "" : ", ", version, ", ", implementation());
  found.kind = info.kind;
  // Of Dawn, which offers one for tests where it finds no other.
  found.computes_nothing = info.interface == abi::kNothing;
  wgpu().AdapterInfoFreeMembers(info);
  found.f16 = wgpu().AdapterHasFeature(adapter, abi::kFeatureF16) != 0;
  const std::pair<uint32_t, const char*> known[] = {
      {abi::kFeatureF16, "f16"}, {abi::kFeatureSubgroups, "subgroups"}};
  for (const auto& [feature, name] : known) {
    if (wgpu().AdapterHasFeature(adapter, feature) != 0) {
      found.features += cat(found.features.empty() ? "" : " ", name);
    }
  }
  return found;
}

// The standard has no list of adapters, but asks for the fastest, for the one
// that takes the least power, and for the one of processors.
std::vector<Found> find_adapters() {
  std::vector<Found> all;
  std::string message;
  const abi::AdapterOptions wanted[] = {
      {nullptr, abi::kCore, abi::kHighPerformance, 0, 0, nullptr},
      {nullptr, abi::kCore, abi::kLowPower, 0, 0, nullptr},
      {nullptr, abi::kCore, 0, 1, 0, nullptr}};
  for (const abi::AdapterOptions& options : wanted) {
    const AdapterAnswer answer = ask(options);
    if (!answer.adapter) {
      message = answer.message;
      continue;
    }
    const Found found = described(answer.adapter.get(), options);
    if (found.computes_nothing) {
      message = "its only adapter computes nothing";
      continue;
    }
    const bool known =
        std::any_of(all.begin(), all.end(), [&](const Found& other) {
          return other.name == found.name && other.driver == found.driver;
        });
    if (!known) all.push_back(found);
  }
  if (all.empty()) {
    fail(RC_E_BACKEND_UNAVAILABLE, implementation(),
         " has no adapter: a driver for Vulkan or another interface below it "
         "is needed",
         message.empty() ? "" : "; it says: ", message);
  }
  return all;
}

}  // namespace

const std::vector<Found>& adapters() {
  // A failure is tried again at the next call.
  static const auto* const all = new std::vector<Found>(find_adapters());
  return *all;
}

const Found& adapter(int index) {
  const std::vector<Found>& all = adapters();
  if (index < 0 || static_cast<size_t>(index) >= all.size()) {
    fail(RC_E_NOT_FOUND, "there is no device webgpu:", index, "; there are ",
         all.size());
  }
  return all[index];
}

AdapterHandle request(const Found& found) {
  AdapterAnswer answer = ask(found.options);
  if (!answer.adapter) {
    fail(RC_E_BACKEND_UNAVAILABLE, "the adapter ", found.name,
         " is there no more", answer.message.empty() ? "" : ": ",
         answer.message);
  }
  return std::move(answer.adapter);
}

void process_events() { wgpu().InstanceProcessEvents(instance()); }

void describe(const Found& found, rc_plugin_device_info* info) {
  std::snprintf(info->name, sizeof info->name, "%s", found.name.c_str());
  info->kind = found.kind == abi::kDiscrete     ? RC_DEVICE_GPU_DISCRETE
               : found.kind == abi::kIntegrated ? RC_DEVICE_GPU_INTEGRATED
               : found.kind == abi::kCpu        ? RC_DEVICE_SOFTWARE
                                                : RC_DEVICE_OTHER;
  info->unified_memory =
      found.kind == abi::kIntegrated || found.kind == abi::kCpu;
  std::snprintf(info->features, sizeof info->features, "%s",
                found.features.c_str());
  info->fp16 = found.f16 ? 1 : 0;
  std::snprintf(info->driver, sizeof info->driver, "%s", found.driver.c_str());
}

}  // namespace rc::webgpu
