#include "runtime/calibrations.h"

#include <atomic>
#include <deque>
#include <map>
#include <mutex>
#include <string>
#include <utility>

#include "base/disk_cache.h"
#include "base/error.h"
#include "runcible/base.h"

namespace rc::runtime {
namespace {

// Of what is measured and how it is counted.
constexpr int kFormat = 1;

struct Known {
  std::atomic<uint64_t> version{1};
  std::mutex mutex;
  std::map<std::string, const Calibration*> by_key;  // nullptr: none
  std::deque<Calibration> all;
};

// Never destroyed: handles may be used while the process ends.
Known& known() {
  static auto* const only = new Known;
  return *only;
}

std::string key_of(const ReportedDevice& device, int threads) {
  return cat("calibration of ", device.id(), " ", device.plugin->path, " with ",
             threads, " threads");
}

// Whatever the device is, the processor starts its ops.
std::string processor() {
  const PluginEntry* cpu = PluginList::instance().find("cpu");
  if (cpu == nullptr) return "";
  const ReportedDevices found = reported_devices(*cpu);
  if (found.devices.empty()) return "";
  const rc_plugin_device_info& info = found.devices.front().info;
  return cat(info.name, ", ", info.cores, " cores, ", info.features);
}

// Returns the conditions on which a measurement depends, on one line.
std::string circumstances(const ReportedDevice& device) {
  std::string text =
      cat("format ", kFormat, " of ", rc_version_string(), ": ",
          device.info.name, ", ", device.info.driver, ", ",
          device.info.features, ", on ", processor(), "; ",
          device.plugin->path.empty() ? "" : file_state(device.plugin->path));
  for (char& c : text) {
    if (c == '\n') c = ' ';
  }
  return text + '\n';
}

const Calibration* enter(const std::string& key,
                         std::optional<Calibration> calibration) {
  Known& all = known();
  const std::lock_guard lock(all.mutex);
  const Calibration* entry = nullptr;
  if (calibration) {
    entry = &all.all.emplace_back(std::move(*calibration));
  }
  const Calibration*& place = all.by_key[key];
  // Another thread may have measured meanwhile.
  if (entry != nullptr || place == nullptr) place = entry;
  return place;
}

}  // namespace

const Calibration* find_calibration(const ReportedDevice& device, int threads) {
  const std::string key = key_of(device, threads);
  {
    Known& all = known();
    const std::lock_guard lock(all.mutex);
    const auto found = all.by_key.find(key);
    if (found != all.by_key.end()) return found->second;
  }
  std::optional<Calibration> calibration;
  const auto kept = recall(key);
  const std::string now = circumstances(device);
  if (kept && kept->starts_with(now)) {
    calibration = parse_calibration(std::string_view(*kept).substr(now.size()));
  }
  return enter(key, std::move(calibration));
}

const Calibration* keep_calibration(const ReportedDevice& device, int threads,
                                    Calibration calibration) {
  const std::string key = key_of(device, threads);
  remember(key, circumstances(device) + calibration_text(calibration));
  const Calibration* entry = enter(key, std::move(calibration));
  ++known().version;
  return entry;
}

uint64_t calibrations_version() { return known().version; }

}  // namespace rc::runtime
