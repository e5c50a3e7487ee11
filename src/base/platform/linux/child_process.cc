#include "base/child_process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <new>
#include <thread>

#include "base/cat.h"

extern char** environ;

namespace rc {
namespace {

constexpr std::chrono::seconds kTimeToExit(5);

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

}  // namespace

ChildProcess::ChildProcess(const std::string& program,
                           const std::string& argument) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) {
    error_ = errno;
    return;
  }
  output_.reset(ends[0]);
  const Descriptor writing(ends[1]);
  start(program, argument, writing.get());
}

void ChildProcess::start(const std::string& program,
                         const std::string& argument, int output) {
  FileActions actions;
  // Without one of them the child would write where the host does.
  if (posix_spawn_file_actions_addopen(actions.get(), 0, "/dev/null", O_RDONLY,
                                       0) != 0 ||
      posix_spawn_file_actions_adddup2(actions.get(), output, 1) != 0 ||
      posix_spawn_file_actions_addopen(actions.get(), 2, "/dev/null", O_WRONLY,
                                       0) != 0) {
    throw std::bad_alloc();
  }
  std::string name = program;
  std::string only = argument;
  char* arguments[] = {name.data(), only.data(), nullptr};
  error_ = posix_spawn(&id_, name.c_str(), actions.get(), nullptr, arguments,
                       environ);
  running_ = error_ == 0;
}

ChildProcess::~ChildProcess() {
  if (running_) kill_and_reap();
}

ChildProcess::Reading ChildProcess::read(std::chrono::milliseconds most,
                                         std::string& text) const {
  pollfd watched = {output_.get(), POLLIN, 0};
  const int ready = poll(&watched, 1, static_cast<int>(most.count()));
  if (ready < 0 && errno != EINTR) return Reading::kEnd;
  if (ready <= 0) return Reading::kNothing;
  char bytes[256];
  const ssize_t count = ::read(output_.get(), bytes, sizeof bytes);
  if (count < 0 && errno == EINTR) return Reading::kNothing;
  if (count <= 0) return Reading::kEnd;
  text.append(bytes, static_cast<size_t>(count));
  return Reading::kSome;
}

std::string ChildProcess::end() {
  int status = 0;
  const int found = wait_for_end(status);
  if (found == 0) {
    kill_and_reap();
    return "it did not exit";
  }
  running_ = false;
  if (found < 0) return "";
  if (WIFSIGNALED(status)) {
    const int signal = WTERMSIG(status);
    return cat("signal ", signal, ", ", strsignal(signal));
  }
  return cat("exit code ", WEXITSTATUS(status));
}

int ChildProcess::wait_for_end(int& status) const {
  const auto late = std::chrono::steady_clock::now() + kTimeToExit;
  pid_t found = 0;
  while ((found = waitpid(id_, &status, WNOHANG)) == 0 &&
         std::chrono::steady_clock::now() < late) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return found;
}

// A process that hangs in the kernel does not even die: it is left alone.
void ChildProcess::kill_and_reap() {
  running_ = false;
  int status = 0;
  kill(id_, SIGKILL);
  wait_for_end(status);
}

}  // namespace rc
