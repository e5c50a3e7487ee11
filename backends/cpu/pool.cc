#include "cpu/pool.h"

#include <chrono>
#include <system_error>
#include <thread>

#include "base/compute_thread.h"
#include "cpu/failure.h"
#include "cpu/machine.h"

namespace rc::cpu {
namespace {

using Clock = std::chrono::steady_clock;

// A thread that waits looks again and again, about 20 microseconds long: longer
// than the difference between threads in most steps. Then, or at once if there
// are more threads than processors, it lets others have its processor between
// the looks, and only then sleeps: waking it up takes longer than most steps,
// above all in a virtual machine.
constexpr int kLooks = 500;
constexpr std::chrono::milliseconds kAwake(1);

inline void pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

// Returns when `value` is no longer `old`.
void wait_for_change(const std::atomic<uint32_t>& value, uint32_t old,
                     int looks) {
  for (int i = 0; i < looks; ++i) {
    if (value.load(std::memory_order_acquire) != old) return;
    pause();
  }
  const Clock::time_point asleep_from = Clock::now() + kAwake;
  do {
    if (value.load(std::memory_order_acquire) != old) return;
    std::this_thread::yield();
  } while (Clock::now() < asleep_from);
  while (value.load(std::memory_order_acquire) == old) {
    value.wait(old, std::memory_order_acquire);
  }
}

}  // namespace

Pool::Pool(int threads)
    : threads_(threads), looks_(threads <= usable_cores() ? kLooks : 0) {
  try {
    team_.reserve(threads - 1);
    for (int i = 1; i < threads; ++i) {
      team_.emplace_back([this, i] { work(i); });
    }
  } catch (const std::system_error& error) {
    const int started = static_cast<int>(team_.size()) + 1;
    stop();
    fail(RC_E_DEVICE, "cannot start thread %d of %d: %s; ask for fewer threads",
         started, threads, error.what());
  } catch (...) {
    stop();
    throw;
  }
}

Pool::~Pool() { stop(); }

void Pool::stop() {
  ending_ = true;
  jobs_.fetch_add(1, std::memory_order_release);
  jobs_.notify_all();
  for (std::thread& thread : team_) thread.join();
  team_.clear();
}

void Pool::run(void (*job)(void* data, int thread), void* data) {
  job_ = job;
  data_ = data;
  if (threads_ > 1) {
    jobs_.fetch_add(1, std::memory_order_release);
    jobs_.notify_all();
  }
  job(data, 0);
  barrier();
}

void Pool::work(int thread) {
  become_compute_thread();
  for (uint32_t seen = 0;; ++seen) {
    wait_for_change(jobs_, seen, looks_);
    if (ending_) return;
    job_(data_, thread);
    barrier();
  }
}

void Pool::barrier() {
  if (threads_ == 1) return;
  const uint32_t now = passed_.load(std::memory_order_relaxed);
  if (arrived_.fetch_add(1, std::memory_order_acq_rel) + 1 ==
      static_cast<uint32_t>(threads_)) {
    arrived_.store(0, std::memory_order_relaxed);
    passed_.store(now + 1, std::memory_order_release);
    passed_.notify_all();
  } else {
    wait_for_change(passed_, now, looks_);
  }
}

}  // namespace rc::cpu
