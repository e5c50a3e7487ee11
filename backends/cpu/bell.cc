#include "cpu/bell.h"

#if defined(__linux__)
#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <climits>
#elif defined(__EMSCRIPTEN_PTHREADS__)
#include <emscripten/threading.h>

#include <climits>
#include <cmath>
#endif

namespace rc::cpu {

void Bell::wait(uint32_t seen, int looks, std::chrono::nanoseconds most) {
  for (int i = 0; i < looks; ++i) {
    if (news() != seen) return;
    pause();
  }
  // Who rings after this sees that a thread is asleep, or was heard.
  asleep_.fetch_add(1, std::memory_order_seq_cst);
  if (news() == seen) sleep(seen, most);
  asleep_.fetch_sub(1, std::memory_order_seq_cst);
}

#if defined(__linux__)

// std::atomic::wait yields a few times before it sleeps, and has no limit.
void Bell::sleep(uint32_t seen, std::chrono::nanoseconds most) {
  static_assert(sizeof news_ == sizeof(uint32_t));
  const timespec limit = {most.count() / 1'000'000'000,
                          most.count() % 1'000'000'000};
  do {
    syscall(SYS_futex, &news_, FUTEX_WAIT_PRIVATE, seen,
            most.count() > 0 ? &limit : nullptr, nullptr, 0);
  } while (most.count() == 0 && news() == seen);  // a signal wakes, too
}

void Bell::wake_sleepers() {
  syscall(SYS_futex, &news_, FUTEX_WAKE_PRIVATE, INT_MAX, nullptr, nullptr, 0);
}

#elif defined(__EMSCRIPTEN_PTHREADS__)

// Its condition variables take several such calls, and locks around them.
void Bell::sleep(uint32_t seen, std::chrono::nanoseconds most) {
  const double milliseconds =
      std::chrono::duration<double, std::milli>(most).count();
  do {
    emscripten_futex_wait(&news_, seen,
                          most.count() > 0 ? milliseconds : INFINITY);
  } while (most.count() == 0 && news() == seen);
}

void Bell::wake_sleepers() { emscripten_futex_wake(&news_, INT_MAX); }

#else

void Bell::sleep(uint32_t seen, std::chrono::nanoseconds most) {
  std::unique_lock lock(mutex_);
  const auto has_news = [&] { return news() != seen; };
  if (most.count() > 0) {
    woken_.wait_for(lock, most, has_news);
  } else {
    woken_.wait(lock, has_news);
  }
}

void Bell::wake_sleepers() {
  { const std::lock_guard lock(mutex_); }
  woken_.notify_all();
}

#endif

}  // namespace rc::cpu
