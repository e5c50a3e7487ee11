#include "runtime/module_probe.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <optional>
#include <string_view>

#include "base/child_process.h"
#include "base/disk_cache.h"
#include "base/environment.h"
#include "base/error.h"
#include "base/file.h"
#include "base/log.h"
#include "base/module_directory.h"
#include "base/process.h"
#include "base/whole_file.h"
#include "runtime/quarantine.h"

namespace rc::runtime {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds kTimeLimit(30);
constexpr std::chrono::milliseconds kBetweenLooks(20);
// A machine that was busy, or a driver that came later, is no reason to do
// without a device for long.
constexpr std::chrono::hours kFailureIsBelieved(1);
// The last output of the program: always, and before that if it found only
// software devices.
constexpr std::string_view kGood = "ok\n";
constexpr std::string_view kOnlySoftware = "only software\nok\n";

// The circumstances of an answer of the drivers: the folders in which they are
// announced, and those of their devices, change when one of their packages
// does.
std::string circumstances(const std::string& module) {
  std::string text = file_state(module);
  for (const char* folder :
       {"/etc/OpenCL/vendors", "/usr/share/vulkan/icd.d", "/etc/vulkan/icd.d",
        "/usr/local/share/vulkan/icd.d", "/usr/local/etc/vulkan/icd.d",
        "/dev/dri", "/dev/nvidiactl", "/dev/kfd"}) {
    text += file_state(folder);
  }
  for (const char* variable :
       {"VK_DRIVER_FILES", "VK_ICD_FILENAMES", "VK_ADD_DRIVER_FILES",
        "OCL_ICD_VENDORS", "OCL_ICD_FILENAMES", "LD_LIBRARY_PATH",
        "RUNCIBLE_WEBGPU_LIBRARY", "CUDA_VISIBLE_DEVICES"}) {
    text += cat(variable, "=", environment(variable).value_or(""), "; ");
  }
  // Drivers within the kernel change with it.
  return text + resource_limits() + "boot " +
         read_whole_file("/proc/sys/kernel/random/boot_id", 100).value_or("") +
         "; ";
}

// "" if there is none.
fs::path probe_program() {
  const fs::path own(module_directory());
  if (own.empty()) return {};
  for (const char* way : {RC_LIBRARY_TO_PROBE, RC_PROGRAM_TO_PROBE,
                          "../bin/runcible-probe", "runcible-probe"}) {
    const fs::path program = (own / way).lexically_normal();
    if (is_executable(program.string())) return program;
  }
  return {};
}

// Reads until the answer or the end of the output; false if the time is over
// before.
bool read_answer(const ChildProcess& child, const SearchProgress& progress,
                 std::string& text) {
  using Reading = ChildProcess::Reading;
  const Clock::time_point end = Clock::now() + kTimeLimit;
  while (true) {
    const auto rest = std::chrono::duration_cast<std::chrono::milliseconds>(
        end - Clock::now());
    if (rest.count() <= 0) return false;
    progress.waiting();
    const Reading reading = child.read(std::min(rest, kBetweenLooks), text);
    if (reading == Reading::kEnd) return true;
    if (reading == Reading::kNothing) continue;
    // A driver may write here as well: the end is what counts.
    if (text.ends_with(kGood)) return true;
    if (text.size() > 4096) text.erase(0, text.size() - 4096);
  }
}

ModuleProbe probe(const fs::path& program, const std::string& module,
                  const SearchProgress& progress) {
  ChildProcess child(program.string(), module);
  if (!child.has_pipe()) {
    log(RC_LOG_WARNING, "no pipe to probe ", module,
        " through: ", std::strerror(child.error()));
    return {};
  }
  if (child.error() != 0) {
    log(RC_LOG_WARNING, "cannot start ", program.string(), ": ",
        std::strerror(child.error()));
    return {};
  }
  std::string output;
  if (!read_answer(child, progress, output)) {
    return {cat("the module ", module,
                " gave no answer when asked for its devices, within ",
                kTimeLimit.count(), " s (tried in a separate process)")};
  }
  const std::string how = child.end();
  if (output.ends_with(kGood)) return {"", output.ends_with(kOnlySoftware)};
  return {cat("the module ", module, " crashed when asked for its devices",
              how.empty() ? "" : " (" + how + ")",
              ", tried in a separate process; a driver is broken")};
}

int64_t seconds_now() {
  return std::chrono::duration_cast<std::chrono::seconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

// The form of an answer in the cache: one word, and of a failure the time and
// the reason.
constexpr std::string_view kGoodAnswer = "good";
constexpr std::string_view kSoftwareAnswer = "software";
constexpr std::string_view kFailed = "failed ";

std::string to_text(const ModuleProbe& answer) {
  if (!answer.reason.empty()) {
    return cat(kFailed, seconds_now(), " ", answer.reason);
  }
  return std::string(answer.only_software ? kSoftwareAnswer : kGoodAnswer);
}

std::optional<ModuleProbe> from_text(std::string_view text) {
  if (text == kGoodAnswer) return ModuleProbe{};
  if (text == kSoftwareAnswer) return ModuleProbe{"", true};
  if (!text.starts_with(kFailed)) return std::nullopt;
  text.remove_prefix(kFailed.size());
  int64_t when = 0;
  const auto [rest, error] =
      std::from_chars(text.data(), text.data() + text.size(), when);
  const std::chrono::seconds age(seconds_now() - when);
  if (error != std::errc() || age.count() < 0 || age > kFailureIsBelieved) {
    return std::nullopt;
  }
  const std::string reason(rest, text.data() + text.size());
  return ModuleProbe{cat("found before and tried again in ",
                         (kFailureIsBelieved - age).count() / 60 + 1,
                         " minutes:", reason)};
}

std::string key_of(const std::string& path) { return cat("probe of ", path); }

}  // namespace

ModuleProbe probe_module(const std::string& path,
                         const SearchProgress& progress) {
  const std::string key = key_of(path);
  const std::string now = circumstances(path);
  const std::string known = recall(key).value_or("");
  if (known.starts_with(now)) {
    auto answer = from_text(std::string_view(known).substr(now.size()));
    if (answer && (answer->reason.empty() || quarantine_counts())) {
      return std::move(*answer);
    }
  }
  const fs::path program = probe_program();
  if (program.empty()) {
    log(RC_LOG_DEBUG, "there is no runcible-probe to try ", path, " with");
    return {};
  }
  ModuleProbe answer = probe(program, path, progress);
  remember(key, now + to_text(answer));
  return answer;
}

bool forget_failed_probe(const std::string& path) {
  const std::string key = key_of(path);
  const std::string now = circumstances(path);
  const std::string known = recall(key).value_or("");
  if (!known.starts_with(now)) return false;
  const auto answer = from_text(std::string_view(known).substr(now.size()));
  if (!answer || answer->reason.empty()) return false;
  forget(key);
  return true;
}

}  // namespace rc::runtime
