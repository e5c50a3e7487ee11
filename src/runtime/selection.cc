#include <algorithm>
#include <string_view>

#include "base/config/settings.h"
#include "base/distance.h"
#include "base/error.h"
#include "base/log.h"
#include "base/quote.h"
#include "runtime/backend_spec.h"
#include "runtime/device_order.h"
#include "runtime/open_devices.h"
#include "runtime/registry.h"

namespace rc::runtime {
namespace {

constexpr int64_t kMaxThreads = 1024;
constexpr const char* kOnlyNamedSoftware =
    "it is software and not used where there is a CPU, unless it is named";

std::string megabytes(uint64_t bytes) {
  return cat(bytes / 1'000'000 + (bytes % 1'000'000 != 0), " MB");
}

// Why the device cannot hold what is required; "" if it can, or does not say.
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
  Choice(std::string spec, const Selection& selection)
      : required_memory_(selection.required_memory),
        options_(selection.device),
        allowed_(selection.allowed),
        progress_(selection.progress) {
    selected_.spec = std::move(spec);
  }

  Selected run() {
    const std::vector<SpecItem> chain = parse_spec(selected_.spec);
    PluginList& list = PluginList::instance();
    // Modules are loaded only if the spec may mean one.
    const auto any = [&](const auto& condition) {
      return std::any_of(chain.begin(), chain.end(), condition);
    };
    const bool automatic =
        any([](const SpecItem& item) { return item.is_any(); });
    const bool named = any([&](const SpecItem& item) {
      return !item.is_any() && list.find(item.name) == nullptr;
    });
    if (automatic || named) {
      failures_ = list.load_modules(named, progress_);
    }
    progress_.reached_modules(1, 1);
    for (size_t i = 0; i < chain.size(); ++i) {
      if (chain[i].name == "auto") {
        try_automatic();
      } else if (chain[i].name == "gpu") {
        try_gpus();
      } else {
        try_named(chain[i]);
      }
      if (selected_.device == nullptr) continue;
      progress_.reached_devices(1, 1);
      // "auto" ends with the CPU.
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

  // Of every backend; those that have none are passed over.
  std::vector<ReportedDevice> all_devices() {
    std::vector<ReportedDevice> devices;
    for (const PluginEntry* plugin : PluginList::instance().entries()) {
      progress_.waiting();
      ReportedDevices found = reported_devices(*plugin);
      if (found.devices.empty()) {
        pass_over(plugin->name, found.reason, found.status);
      }
      std::move(found.devices.begin(), found.devices.end(),
                std::back_inserter(devices));
    }
    for (const ModuleFailure& failure : failures_) {
      pass_over(failure.name, failure.reason);
    }
    return devices;
  }

  void try_gpus() {
    std::vector<ReportedDevice> devices = all_devices();
    std::erase_if(devices, [&](const ReportedDevice& device) {
      // A device that does not describe itself cannot be judged.
      const bool left_out = !is_gpu(device.info);
      if (left_out) {
        pass_over(device.id(),
                  device.reason.empty() ? "it is no GPU" : device.reason);
      }
      return left_out;
    });
    try_in_order(std::move(devices));
  }

  void try_automatic() {
    std::vector<ReportedDevice> devices = all_devices();
    // Drivers that make GPUs of processors are slower than the CPU itself, and
    // some end the process when they have no memory.
    const bool has_cpu =
        std::any_of(devices.begin(), devices.end(), is_proper_cpu);
    if (has_cpu) {
      std::erase_if(devices, [&](const ReportedDevice& device) {
        const bool left_out = device.info.kind == RC_DEVICE_SOFTWARE;
        if (left_out) pass_over(device.id(), kOnlyNamedSoftware);
        return left_out;
      });
    }
    try_in_order(std::move(devices));
    if (selected_.device == nullptr) return;
    if (selected_.device->plugin().name == kReferenceBackend) {
      warn(cat(selected_.device->id(),
               " is what is left; it is made for tests and very slow"));
    }
  }

  static bool is_proper_cpu(const ReportedDevice& device) {
    return device.reason.empty() && device.info.kind == RC_DEVICE_CPU &&
           device.plugin->name != kReferenceBackend;
  }

  void try_named(const SpecItem& item) {
    const PluginEntry* plugin = PluginList::instance().find(item.name);
    if (plugin == nullptr) {
      for (const ModuleFailure& failure : failures_) {
        if (failure.name != item.name) continue;
        return pass_over(failure.name, failure.reason);
      }
      unknown_name_ = true;
      return pass_over(item.name, cat("there is no backend of this name",
                                      did_you_mean(item.name)));
    }
    ReportedDevices found = reported_devices(*plugin);
    if (found.devices.empty()) {
      return pass_over(item.name, found.reason, found.status);
    }
    if (!item.index) return try_in_order(std::move(found.devices));
    if (static_cast<size_t>(*item.index) >= found.devices.size()) {
      return pass_over(cat(item.name, ":", *item.index),
                       cat("the backend has ", found.devices.size(),
                           " devices, numbered from 0"));
    }
    try_in_order({found.devices[*item.index]});
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
    progress_.waiting();
    if (!allows(allowed_, device)) {
      return pass_over(device.id(), "its tenant may not use it");
    }
    if (!device.reason.empty()) {
      failed_.push_back({device.id(), false, device.reason});
      return pass_over(device.id(), device.reason, device.status);
    }
    std::string reason = memory_reason(device.info, required_memory_);
    if (device.info.kind == RC_DEVICE_CPU && reason.empty()) {
      reason = host_memory_reason_;
    }
    if (!reason.empty()) {
      if (device.info.kind == RC_DEVICE_CPU) host_memory_reason_ = reason;
      return pass_over(device.id(), reason);
    }
    try {
      selected_.device = open(device);
    } catch (const Error& error) {
      if (stops_the_walk(device, error.status())) throw;
      failed_.push_back({device.id(), false, error.message()});
      return pass_over(device.id(), error.message());
    }
    for (const Candidate& failed : failed_) {
      warn(cat(device.id(), " stands in for ", failed.id,
               ", which failed: ", failed.reason));
    }
    physical_id_ = device.info.physical_id;
    selected_.candidates.push_back({device.id(), true, ""});
    log(RC_LOG_INFO, "chose ", device.id(), " (", device.info.name, ") for ",
        selected_.spec);
  }

  static bool stops_the_walk(const ReportedDevice& device, rc_status status) {
    // The host has no memory for any other device either.
    if (status == RC_E_OUT_OF_MEMORY) return true;
    // A request of the caller or of the environment that cannot be met: to do
    // something else would hide it. Modules also report RC_E_UNSUPPORTED for
    // features that their drivers do not have.
    return status == RC_E_INVALID_ARGUMENT ||
           (status == RC_E_UNSUPPORTED && device.plugin->built_in);
  }

  // A CPU can always be used by the threads that call it, if the system starts
  // no others for it.
  std::shared_ptr<Device> open(const ReportedDevice& device) {
    try {
      return open_device(device, options_);
    } catch (const Error& error) {
      if (error.status() != RC_E_DEVICE || !is_proper_cpu(device) ||
          options_.threads == 1) {
        throw;
      }
      DeviceOptions options = options_;
      options.threads = 1;
      auto opened = open_device(device, options);
      warn(cat(error.message(), "; it computes with one thread"));
      return opened;
    }
  }

  void warn(const std::string& text) {
    log(RC_LOG_WARNING, text);
    selected_.warnings.push_back(text);
  }

  void pass_over(const std::string& id, const std::string& reason,
                 rc_status status = RC_OK) {
    out_of_memory_ = out_of_memory_ || status == RC_E_OUT_OF_MEMORY;
    log(RC_LOG_DEBUG, "passed over ", id, ": ", reason);
    selected_.candidates.push_back({id, false, reason});
  }

  [[noreturn]] void give_up() const {
    std::string reasons;
    for (const Candidate& candidate : selected_.candidates) {
      reasons += cat(reasons.empty() ? "" : "; ", candidate.id, ": ",
                     candidate.reason);
    }
    if (out_of_memory_) {
      fail(RC_E_OUT_OF_MEMORY, "no device for ", quote(selected_.spec), ": ",
           reasons);
    }
    if (!unknown_name_) {
      fail(RC_E_BACKEND_UNAVAILABLE, "no device for ", quote(selected_.spec),
           ": ", reasons);
    }
    std::string known;
    for (const std::string& name : known_names()) {
      known += (known.empty() ? "" : ", ") + name;
    }
    fail(RC_E_NOT_FOUND, "no device for ", quote(selected_.spec), ": ", reasons,
         "; known are ", known);
  }

  // Returns the names that a chain may contain, whether or not they can be
  // opened here.
  std::vector<std::string> known_names() const {
    std::vector<std::string> names = {"auto", "gpu"};
    for (const PluginEntry* plugin : PluginList::instance().entries()) {
      names.push_back(plugin->name);
    }
    for (const ModuleFailure& failure : failures_) {
      names.push_back(failure.name);
    }
    return names;
  }

  // ", did you mean vulkan?", or "" if no name is near.
  std::string did_you_mean(const std::string& name) const {
    constexpr size_t kLongestCompared = 100;
    const size_t most = std::max<size_t>(1, name.size() / 3);
    size_t least = most + 1;
    std::string found;
    for (const std::string& known : known_names()) {
      const size_t far =
          distance(std::string_view(name).substr(0, kLongestCompared), known);
      if (far >= least || far >= known.size()) continue;
      least = far;
      found = known;
    }
    return found.empty() ? "" : cat(", did you mean ", found, "?");
  }

  uint64_t required_memory_;
  DeviceOptions options_;
  std::vector<SpecItem> allowed_;
  SearchProgress progress_;
  std::vector<ModuleFailure> failures_;
  std::string physical_id_;         // of the chosen device
  std::string host_memory_reason_;  // why CPUs are passed over
  std::vector<Candidate> failed_;   // of those passed over
  bool unknown_name_ = false;
  bool out_of_memory_ = false;  // a candidate had none to answer with
  Selected selected_;
};

}  // namespace

void check(const DeviceOptions& options) {
  if (options.threads < 0 || options.threads > kMaxThreads) {
    fail(RC_E_INVALID_ARGUMENT, "threads is ", options.threads,
         "; 0 leaves the choice to the backend, otherwise 1 to ", kMaxThreads);
  }
  if (options.numa < RC_NUMA_AUTO || options.numa > RC_NUMA_LOCAL) {
    fail(RC_E_INVALID_ARGUMENT, "numa is ", options.numa, "; it must be ",
         RC_NUMA_AUTO, " to ", RC_NUMA_LOCAL);
  }
}

std::string spec_or_default(const std::string& spec) {
  if (!spec.empty()) return spec;
  const auto settings = config::Settings::now();
  std::string configured = settings->text("backend.spec").value_or("");
  if (configured.empty()) return "auto";
  try {
    parse_spec(configured);
  } catch (const Error& error) {
    fail(error.status(), settings->subject("backend.spec"), ": ",
         error.message());
  }
  return configured;
}

Selected select(const Selection& selection) {
  check(selection.device);
  return Choice(spec_or_default(selection.spec), selection).run();
}

}  // namespace rc::runtime
