#include "runtime/module_probe.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <thread>

#include "base/environment.h"
#include "base/error.h"
#include "base/log.h"
#include "base/own_folder.h"
#include "base/remembered.h"

extern char** environ;

namespace rc::runtime {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds kTimeLimit(30);
constexpr std::chrono::seconds kTimeToExit(1);
// What the program writes at its end.
constexpr std::string_view kGood = "ok\n";

// What an answer of the drivers depends on: the folders where they are
// announced change when a package of theirs does.
std::string circumstances(const std::string& module) {
  std::string text = file_state(module);
  for (const char* folder :
       {"/etc/OpenCL/vendors", "/usr/share/vulkan/icd.d", "/etc/vulkan/icd.d",
        "/usr/local/share/vulkan/icd.d", "/usr/local/etc/vulkan/icd.d"}) {
    text += file_state(folder);
  }
  for (const char* variable :
       {"VK_DRIVER_FILES", "VK_ICD_FILENAMES", "VK_ADD_DRIVER_FILES",
        "OCL_ICD_VENDORS", "OCL_ICD_FILENAMES", "LD_LIBRARY_PATH",
        "CUDA_VISIBLE_DEVICES"}) {
    text += cat(variable, "=", environment(variable).value_or(""), "; ");
  }
  // Drivers within the kernel change with it.
  std::ifstream boot("/proc/sys/kernel/random/boot_id");
  std::string id;
  std::getline(boot, id);
  return text + "boot " + id;
}

// "" if there is none.
fs::path probe_program() {
  const fs::path own = own_folder();
  if (own.empty()) return {};
  for (const char* way : {RC_LIBRARY_TO_PROBE, RC_PROGRAM_TO_PROBE,
                          "../bin/runcible-probe", "runcible-probe"}) {
    const fs::path program = (own / way).lexically_normal();
    if (access(program.c_str(), X_OK) == 0) return program;
  }
  return {};
}

class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor() { reset(); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return number_; }
  void reset(int number = -1) {
    if (number_ >= 0) close(number_);
    number_ = number;
  }

 private:
  int number_ = -1;
};

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
    posix_spawn_file_actions_addopen(actions.get(), 0, "/dev/null", O_RDONLY,
                                     0);
    posix_spawn_file_actions_adddup2(actions.get(), output, 1);
    posix_spawn_file_actions_addopen(actions.get(), 2, "/dev/null", O_WRONLY,
                                     0);
    std::string name = program.string();
    std::string path = module;
    char* arguments[] = {name.data(), path.data(), nullptr};
    error_ = posix_spawn(&id_, name.c_str(), actions.get(), nullptr, arguments,
                         environ);
  }
  ~Child() {
    if (error_ != 0 || reaped_) return;
    kill(id_, SIGKILL);
    end();
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  int error() const { return error_; }

  // How it ended; "" if the host's own handling of children was quicker. It has
  // said all that counts: one that does not end by itself is killed.
  std::string end() {
    reaped_ = true;
    const Clock::time_point late = Clock::now() + kTimeToExit;
    int status = 0;
    pid_t found = 0;
    while ((found = waitpid(id_, &status, WNOHANG)) == 0) {
      if (Clock::now() > late) {
        kill(id_, SIGKILL);
        waitpid(id_, &status, 0);
        return "it did not exit";
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    if (found < 0) return "";
    if (WIFSIGNALED(status)) {
      const int signal = WTERMSIG(status);
      return cat("signal ", signal, ", ", strsignal(signal));
    }
    return cat("exit code ", WEXITSTATUS(status));
  }

 private:
  pid_t id_ = 0;
  int error_ = 0;
  bool reaped_ = false;
};

// What comes until the answer or the end of the output; false if the time is
// over before. A process that a driver started may hold the output open.
bool read_answer(int descriptor, std::string& text) {
  const Clock::time_point end = Clock::now() + kTimeLimit;
  while (true) {
    const auto rest = std::chrono::duration_cast<std::chrono::milliseconds>(
        end - Clock::now());
    if (rest.count() <= 0) return false;
    pollfd watched = {descriptor, POLLIN, 0};
    const int ready = poll(&watched, 1, static_cast<int>(rest.count()));
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

std::string probe(const fs::path& program, const std::string& module) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) {
    log(RC_LOG_WARNING, "no pipe to probe ", module,
        " through: ", std::strerror(errno));
    return "";
  }
  const Descriptor reading(ends[0]);
  Descriptor writing(ends[1]);
  Child child(program, module, writing.get());
  writing.reset();
  if (child.error() != 0) {
    log(RC_LOG_WARNING, "cannot start ", program.string(), ": ",
        std::strerror(child.error()));
    return "";
  }
  std::string output;
  if (!read_answer(reading.get(), output)) {
    return cat("the module ", module,
               " gave no answer when asked for its devices, within ",
               kTimeLimit.count(), " s (tried in a process of its own)");
  }
  const std::string how = child.end();
  if (output.ends_with(kGood)) return "";
  return cat("the module ", module, " crashed when asked for its devices",
             how.empty() ? "" : " (" + how + ")",
             ", tried in a process of its own; a driver is broken");
}

}  // namespace

std::string probe_module(const std::string& path) {
  const std::string key = cat("probe of ", path);
  const std::string now = circumstances(path);
  if (recall(key) == now) return "";
  const fs::path program = probe_program();
  if (program.empty()) {
    log(RC_LOG_DEBUG, "there is no runcible-probe to try ", path, " with");
    return "";
  }
  std::string reason = probe(program, path);
  // A failure may be gone the next time.
  if (reason.empty()) remember(key, now);
  return reason;
}

}  // namespace rc::runtime
