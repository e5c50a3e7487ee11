#include "base/size_signal.h"

#include <pthread.h>

#include <cerrno>
#include <csignal>

namespace rc {
namespace {

sigset_t the_signal() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGXFSZ);
  return set;
}

bool is_pending() {
  sigset_t pending;
  return sigpending(&pending) == 0 && sigismember(&pending, SIGXFSZ) == 1;
}

}  // namespace

SizeSignalHeld::SizeSignalHeld() noexcept {
  const sigset_t set = the_signal();
  sigset_t before;
  // Where it is blocked already, one that is pending is not ours to take.
  held_ = pthread_sigmask(SIG_BLOCK, &set, &before) == 0 &&
          sigismember(&before, SIGXFSZ) == 0;
}

SizeSignalHeld::~SizeSignalHeld() {
  if (!held_) return;
  const int error = errno;
  const sigset_t set = the_signal();
  // It was sent to this thread, by a write of ours.
  if (is_pending()) {
    int taken = 0;
    sigwait(&set, &taken);
  }
  pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
  errno = error;
}

}  // namespace rc
