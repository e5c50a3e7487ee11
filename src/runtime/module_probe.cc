#include "runtime/module_probe.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <new>
#include <optional>
#include <string_view>
#include <thread>

#include "base/descriptor.h"
#include "base/disk_cache.h"
#include "base/environment.h"
#include "base/error.h"
#include "base/log.h"
#include "base/module_directory.h"
#include "base/whole_file.h"
#include "runtime/quarantine.h"

extern char** environ;

namespace rc::runtime {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds kTimeLimit(30);
constexpr std::chrono::seconds kTimeToExit(5);
constexpr std::chrono::milliseconds kBetweenLooks(20);
// A machine that was busy, or a driver that came later, is no reason to do
// without a device for long.
constexpr std::chrono::hours kFailureIsBelieved(1);
// What the program writes at its end: always, and before that if it found
// software devices alone.
constexpr std::string_view kGood = "ok\n";
constexpr std::string_view kOnlySoftware = "only software\nok\n";

// What an answer of the drivers depends on: the folders where they are
// announced, and where their devices are, change when a package of theirs does.
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
  for (const int resource : {RLIMIT_AS, RLIMIT_DATA, RLIMIT_NPROC}) {
    rlimit limit = {};
    getrlimit(resource, &limit);
    text += cat("limit ", resource, " ", limit.rlim_cur, "; ");
  }
  // Drivers within the kernel change with it.
  return text + "boot " +
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
    if (access(program.c_str(), X_OK) == 0) return program;
  }
  return {};
}

class FileActions {
 public:
  FileActions() {
    if (posix_spawn_file_actions_init(&actions_) != 0) throw std::bad_alloc();
  }
  ~FileActions() { posix_spawn_file_actions_destroy(&actions_); }
  FileActions(const FileActions&) = delete;
  FileActions& operator=(const FileActions&) = delete;
  posix_spawn_file_actions_t* get() { return &actions_; }

 private:
  posix_spawn_file_actions_t actions_;
};

// The child; killed, if it still runs, and reaped with the object.
class Child {
 public:
  Child(const fs::path& program, const std::string& module, int output) {
    FileActions actions;
    // Without one of them the child would write where the host does.
    if (posix_spawn_file_actions_addopen(actions.get(), 0, "/dev/null",
                                         O_RDONLY, 0) != 0 ||
        posix_spawn_file_actions_adddup2(actions.get(), output, 1) != 0 ||
        posix_spawn_file_actions_addopen(actions.get(), 2, "/dev/null",
                                         O_WRONLY, 0) != 0) {
      throw std::bad_alloc();
    }
    std::string name = program.string();
    std::string path = module;
    char* arguments[] = {name.data(), path.data(), nullptr};
    error_ = posix_spawn(&id_, name.c_str(), actions.get(), nullptr, arguments,
                         environ);
  }
  ~Child() {
    if (error_ == 0 && !reaped_) kill_and_reap();
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  int error() const { return error_; }

  // How it ended; "" if the host's own handling of children was quicker. It has
  // said all that counts: one that does not end by itself is killed.
  std::string end() {
    int status = 0;
    const pid_t found = wait_for_end(kTimeToExit, status);
    if (found == 0) {
      kill_and_reap();
      return "it did not exit";
    }
    reaped_ = true;
    if (found < 0) return "";
    if (WIFSIGNALED(status)) {
      const int signal = WTERMSIG(status);
      return cat("signal ", signal, ", ", strsignal(signal));
    }
    return cat("exit code ", WEXITSTATUS(status));
  }

 private:
  // As waitpid; 0: it is not over in time.
  pid_t wait_for_end(std::chrono::seconds time, int& status) const {
    const Clock::time_point late = Clock::now() + time;
    pid_t found = 0;
    while ((found = waitpid(id_, &status, WNOHANG)) == 0 &&
           Clock::now() < late) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return found;
  }

  // A process that hangs in the kernel does not even die: it is left alone.
  void kill_and_reap() {
    reaped_ = true;
    int status = 0;
    kill(id_, SIGKILL);
    wait_for_end(kTimeToExit, status);
  }

  pid_t id_ = 0;
  int error_ = 0;
  bool reaped_ = false;
};

// What comes until the answer or the end of the output; false if the time is
// over before. A process that a driver started may hold the output open.
bool read_answer(int descriptor, const SearchProgress& progress,
                 std::string& text) {
  const Clock::time_point end = Clock::now() + kTimeLimit;
  while (true) {
    const auto rest = std::chrono::duration_cast<std::chrono::milliseconds>(
        end - Clock::now());
    if (rest.count() <= 0) return false;
    progress.waiting();
    pollfd watched = {descriptor, POLLIN, 0};
    const int ready = poll(
        &watched, 1, static_cast<int>(std::min(rest, kBetweenLooks).count()));
    if (ready < 0 && errno != EINTR) return true;
    if (ready <= 0) continue;
    char bytes[256];
    const ssize_t count = read(descriptor, bytes, sizeof bytes);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return true;
    // A driver may write here as well: the end is what counts.
    text.append(bytes, static_cast<size_t>(count));
    if (text.ends_with(kGood)) return true;
    if (text.size() > 4096) text.erase(0, text.size() - 4096);
  }
}

ModuleProbe probe(const fs::path& program, const std::string& module,
                  const SearchProgress& progress) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) {
    log(RC_LOG_WARNING, "no pipe to probe ", module,
        " through: ", std::strerror(errno));
    return {};
  }
  const Descriptor reading(ends[0]);
  Descriptor writing(ends[1]);
  Child child(program, module, writing.get());
  writing.reset();
  if (child.error() != 0) {
    log(RC_LOG_WARNING, "cannot start ", program.string(), ": ",
        std::strerror(child.error()));
    return {};
  }
  std::string output;
  if (!read_answer(reading.get(), progress, output)) {
    return {cat("the module ", module,
                " gave no answer when asked for its devices, within ",
                kTimeLimit.count(), " s (tried in a process of its own)")};
  }
  const std::string how = child.end();
  if (output.ends_with(kGood)) return {"", output.ends_with(kOnlySoftware)};
  return {cat("the module ", module, " crashed when asked for its devices",
              how.empty() ? "" : " (" + how + ")",
              ", tried in a process of its own; a driver is broken")};
}

int64_t seconds_now() {
  return std::chrono::duration_cast<std::chrono::seconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

// What the cache keeps of an answer: one word, and of a failure the time and
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
