#include <algorithm>
#include <map>
#include <mutex>
#include <tuple>

#include "base/environment.h"
#include "base/error.h"
#include "base/log.h"
#include "base/quote.h"
#include "runtime/backend_spec.h"
#include "runtime/device_order.h"
#include "runtime/registry.h"
#include "runtime/self_test.h"

namespace rc::runtime {
namespace {

constexpr int64_t kMaxThreads = 1024;

// The devices that are open, so that who asks for the same gets the same.
class OpenDevices {
 public:
  static OpenDevices& instance() {
    static auto* devices = new OpenDevices;
    return *devices;
  }

  std::shared_ptr<Device> open(const ReportedDevice& reported,
                               const DeviceOptions& options) {
    // Held while opening: two who ask at once shall get one device.
    const std::lock_guard lock(mutex_);
    std::weak_ptr<Device>& known = devices_[Key(
        reported.plugin, reported.index, options.threads, options.profile)];
    if (auto device = known.lock(); device != nullptr && !device->lost()) {
      return device;
    }
    auto device = Device::open(reported.plugin->table, reported.index, options);
    if (!reported.plugin->path.empty()) {
      auto test = std::make_unique<SelfTest>(device, reported.plugin->path);
      const std::string reason = test->of_device();
      if (!reason.empty()) fail(RC_E_DEVICE, device->id(), ": ", reason);
      device->test_with(std::move(test));
    }
    known = device;
    return device;
  }

 private:
  using Key = std::tuple<const PluginEntry*, int, int, bool>;
  std::mutex mutex_;
  std::map<Key, std::weak_ptr<Device>> devices_;
};

DeviceOptions with_environment(DeviceOptions options) {
  if (options.threads < 0 || options.threads > kMaxThreads) {
    fail(RC_E_INVALID_ARGUMENT, "threads is ", options.threads,
         "; 0 leaves the choice to the backend, otherwise 1 to ", kMaxThreads);
  }
  if (options.threads == 0) {
    options.threads = static_cast<int>(
        environment_integer("RUNCIBLE_THREADS", 0, kMaxThreads).value_or(0));
  }
  options.profile = options.profile ||
                    environment_integer("RUNCIBLE_PROFILE", 0, 1).value_or(0);
  return options;
}

std::string megabytes(uint64_t bytes) {
  return cat(bytes / 1'000'000 + (bytes % 1'000'000 != 0), " MB");
}

// Why the device cannot hold what is required; "" if it can or does not tell.
std::string memory_reason(const rc_plugin_device_info& info,
                          uint64_t required) {
  const bool free = info.free_memory != 0;
  const uint64_t known = free ? info.free_memory : info.total_memory;
  if (known == 0 || known >= required) return "";
  return cat("has ", megabytes(known), free ? " free" : " in all", ", but ",
             megabytes(required), " are needed");
}

// One walk along a chain.
class Choice {
 public:
  Choice(std::string spec, uint64_t required_memory, DeviceOptions options)
      : required_memory_(required_memory), options_(options) {
    selected_.spec = std::move(spec);
  }

  Selected run() {
    const std::vector<SpecItem> chain = parse_spec(selected_.spec);
    PluginList& list = PluginList::instance();
    // Modules are loaded only if somebody may mean one.
    const bool all_known = std::all_of(
        chain.begin(), chain.end(),
        [&](const SpecItem& item) { return list.find(item.name) != nullptr; });
    if (!all_known) failures_ = list.load_modules();
    for (size_t i = 0; i < chain.size(); ++i) {
      if (chain[i].name == "auto") {
        try_automatic();
      } else {
        try_named(chain[i]);
      }
      if (selected_.device == nullptr) continue;
      // What "auto" leaves to others goes to the CPU.
      for (size_t k = i; k < chain.size(); ++k) {
        if (chain[k].name == "auto") {
          selected_.next.push_back("cpu");
        } else if (k > i) {
          selected_.next.push_back(text_of(chain[k]));
        }
      }
      return std::move(selected_);
    }
    give_up();
  }

 private:
  static std::string text_of(const SpecItem& item) {
    return item.index ? cat(item.name, ":", *item.index) : item.name;
  }

  void try_automatic() {
    std::vector<ReportedDevice> devices;
    for (const PluginEntry* plugin : PluginList::instance().entries()) {
      std::string reason;
      auto found = reported_devices(*plugin, reason);
      if (found.empty()) pass_over(plugin->name, reason);
      std::move(found.begin(), found.end(), std::back_inserter(devices));
    }
    for (const ModuleFailure& failure : failures_) {
      pass_over(failure.name, failure.reason);
    }
    try_in_order(std::move(devices));
  }

  void try_named(const SpecItem& item) {
    const PluginEntry* plugin = PluginList::instance().find(item.name);
    if (plugin == nullptr) {
      for (const ModuleFailure& failure : failures_) {
        if (failure.name != item.name) continue;
        return pass_over(failure.name, failure.reason);
      }
      unknown_name_ = true;
      return pass_over(item.name, "there is no backend of this name");
    }
    std::string reason;
    std::vector<ReportedDevice> devices = reported_devices(*plugin, reason);
    if (devices.empty()) return pass_over(item.name, reason);
    if (!item.index) return try_in_order(std::move(devices));
    if (static_cast<size_t>(*item.index) >= devices.size()) {
      return pass_over(
          cat(item.name, ":", *item.index),
          cat("the backend has ", devices.size(), " devices, numbered from 0"));
    }
    try_in_order({devices[*item.index]});
  }

  void try_in_order(std::vector<ReportedDevice> devices) {
    sort_by_preference(devices);
    for (const ReportedDevice& device : devices) {
      if (selected_.device != nullptr) {
        pass_over(device.id(), cat(twin_reason(device), "it comes after ",
                                   selected_.device->id(), " in the order"));
      } else {
        try_device(device);
      }
    }
  }

  // For a physical device that was chosen through another backend.
  std::string twin_reason(const ReportedDevice& device) const {
    const char* id = device.info.physical_id;
    if (*id == '\0' || physical_id_ != id) return "";
    return cat("it is the same physical device (", id, "); ");
  }

  void try_device(const ReportedDevice& device) {
    if (!device.reason.empty()) return pass_over(device.id(), device.reason);
    const std::string reason = memory_reason(device.info, required_memory_);
    if (!reason.empty()) return pass_over(device.id(), reason);
    try {
      selected_.device = OpenDevices::instance().open(device, options_);
    } catch (const Error& error) {
      // The host has no memory for any other device either.
      if (error.status() == RC_E_OUT_OF_MEMORY) throw;
      return pass_over(device.id(), error.message());
    }
    physical_id_ = device.info.physical_id;
    selected_.candidates.push_back({device.id(), true, ""});
    log(RC_LOG_INFO, "chose ", device.id(), " (", device.info.name, ") for ",
        selected_.spec);
  }

  void pass_over(const std::string& id, const std::string& reason) {
    log(RC_LOG_DEBUG, "passed over ", id, ": ", reason);
    selected_.candidates.push_back({id, false, reason});
  }

  [[noreturn]] void give_up() const {
    std::string reasons;
    for (const Candidate& candidate : selected_.candidates) {
      reasons += cat(reasons.empty() ? "" : "; ", candidate.id, ": ",
                     candidate.reason);
    }
    if (!unknown_name_) {
      fail(RC_E_BACKEND_UNAVAILABLE, "no device for ", quote(selected_.spec),
           ": ", reasons);
    }
    std::string known = "auto";
    for (const PluginEntry* plugin : PluginList::instance().entries()) {
      known += ", " + plugin->name;
    }
    fail(RC_E_NOT_FOUND, "no device for ", quote(selected_.spec), ": ", reasons,
         "; known are ", known);
  }

  uint64_t required_memory_;
  DeviceOptions options_;
  std::vector<ModuleFailure> failures_;
  std::string physical_id_;  // of the chosen device
  bool unknown_name_ = false;
  Selected selected_;
};

}  // namespace

Selected select(const Selection& selection) {
  std::string spec = selection.spec;
  if (spec.empty()) spec = environment("RUNCIBLE_BACKEND").value_or("auto");
  return Choice(std::move(spec), selection.required_memory,
                with_environment(selection.device))
      .run();
}

}  // namespace rc::runtime
