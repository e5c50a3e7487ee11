// An eventfd where there is one, else a pipe.
#include "base/wakeup.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>
#if defined(__linux__)
#include <sys/eventfd.h>
#endif

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstring>

#include "base/error.h"

namespace rc {

Wakeup::Wakeup() {
#if defined(__linux__)
  read_end_ = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (read_end_ >= 0) {
    write_end_ = read_end_;
    return;
  }
#endif
  int ends[2];
  if (pipe(ends) != 0) {
    const int error = errno;
    fail(RC_E_IO,
         "the system gave no descriptor for a loop: ", std::strerror(error));
  }
  for (int end : ends) {
    fcntl(end, F_SETFD, FD_CLOEXEC);
    fcntl(end, F_SETFL, O_NONBLOCK);
  }
  read_end_ = ends[0];
  write_end_ = ends[1];
}

Wakeup::~Wakeup() {
  close(read_end_);
  if (write_end_ != read_end_) close(write_end_);
}

WaitHandle Wakeup::handle() const { return {RC_LOOP_HANDLE_FD, read_end_}; }

void Wakeup::set() noexcept {
  const uint64_t one = 1;
  // A full counter or pipe is readable already.
  while (write(write_end_, &one, sizeof(one)) < 0 && errno == EINTR) {
  }
}

void Wakeup::clear() noexcept {
  uint64_t bytes[8];
  while (true) {
    const ssize_t n = read(read_end_, bytes, sizeof(bytes));
    if (n < 0 && errno == EINTR) continue;
    // One read empties an eventfd; a pipe may hold more.
    if (n < static_cast<ssize_t>(sizeof(bytes))) return;
  }
}

bool Wakeup::wait(int64_t timeout_ms) {
  pollfd watched = {read_end_, POLLIN, 0};
  const int limit =
      timeout_ms < 0 ? -1
                     : static_cast<int>(std::min<int64_t>(timeout_ms, INT_MAX));
  const int ready = poll(&watched, 1, limit);
  if (ready < 0 && errno != EINTR) {
    const int error = errno;
    fail(RC_E_IO, "poll: ", std::strerror(error));
  }
  return ready > 0;
}

}  // namespace rc
