// The object on which threads sleep until there is news.
//
// A wait looks for a while and then sleeps in the kernel. It never yields: on a
// busy machine that would give the processor to another process for a whole
// time slice, and what is waited for takes microseconds.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

#include "base/futex.h"

namespace rc::cpu {

// Once through a loop that waits.
inline void pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#elif defined(__wasm__)
  // There is no such instruction: about as long as that of x86-64.
  for (int i = 0; i < 100; ++i) asm volatile("" : "+r"(i));
#endif
}

class EventCount {
 public:
  // To be read before looking for what the news may be about.
  uint32_t news() const { return news_.load(std::memory_order_seq_cst); }
  // Threads that look see it soon; those asleep go on sleeping.
  void ring() { news_.fetch_add(1, std::memory_order_seq_cst); }
  // Wakes those who are asleep and have not seen the news.
  void wake() {
    if (asleep_.load(std::memory_order_seq_cst) > 0) futex_wake(news_);
  }
  int asleep() const { return asleep_.load(std::memory_order_relaxed); }

  // Returns when there are news after `seen`, at once if there are already:
  // looks `looks` times and then sleeps, until `most` has passed if that is
  // not zero.
  void wait(uint32_t seen, int looks, std::chrono::nanoseconds most = {});

 private:
  void sleep(uint32_t seen, std::chrono::nanoseconds most);

  alignas(64) std::atomic<uint32_t> news_{0};
  std::atomic<int> asleep_{0};
};

}  // namespace rc::cpu
