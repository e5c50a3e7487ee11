#include "base/futex.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <climits>

namespace rc {

void futex_wait(const std::atomic<uint32_t>& word, uint32_t value,
                std::chrono::nanoseconds most) noexcept {
  static_assert(sizeof word == sizeof(uint32_t));
  const timespec limit = {most.count() / 1'000'000'000,
                          most.count() % 1'000'000'000};
  syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, value,
          most.count() > 0 ? &limit : nullptr, nullptr, 0);
}

void futex_wake(const std::atomic<uint32_t>& word) noexcept {
  syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, INT_MAX, nullptr, nullptr, 0);
}

}  // namespace rc
