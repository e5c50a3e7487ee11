#include "cpu/pool.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <limits>
#include <thread>
#include <vector>

namespace rc::cpu {
namespace {

class Counting : public Pool::Job {
 public:
  explicit Counting(int threads) : calls(threads) {}
  void help(int thread) override { ++calls[thread]; }

  std::vector<std::atomic<int>> calls;
};

TEST(Pool, CallsWhoeverSleepsWhileAJobIsUnderWay) {
  for (int threads : {2, 3, 16}) {
    Pool pool(threads);
    for (int i = 0; i < 50; ++i) {
      Counting job(threads);
      pool.begin(&job);
      pool.call(true);
      for (int t = 1; t < threads; ++t) {
        while (job.calls[t] == 0) {
          std::this_thread::sleep_for(std::chrono::microseconds(50));
        }
      }
      pool.end();
      pool.wait_until_left(&job);
      EXPECT_EQ(job.calls[0], 0) << "the caller's";
    }
  }
}

// A job can go as soon as everybody has left it, and nobody comes later.
TEST(Pool, NobodyIsWithinAJobThatWasLeft) {
  struct Guarded : Pool::Job {
    void help(int) override {
      if (!there) ++late;
      std::this_thread::yield();
      if (!there) ++late;
    }
    std::atomic<bool> there{true};
    std::atomic<int> late{0};
  };
  Pool pool(4);
  for (int i = 0; i < 2000; ++i) {
    Guarded job;
    pool.begin(&job);
    pool.call(i % 2 == 0);
    pool.end();
    pool.wait_until_left(&job);
    job.there = false;
    pool.call(true);
    ASSERT_EQ(job.late, 0);
  }
}

TEST(Pool, UsesNoProcessorWhileIdle) {
  Pool pool(4);
  Counting job(4);
  pool.begin(&job);
  pool.call(true);
  pool.end();
  while (!pool.all_asleep()) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  const auto used = [] {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_utime.tv_sec * 1000000L + usage.ru_utime.tv_usec +
           usage.ru_stime.tv_sec * 1000000L + usage.ru_stime.tv_usec;
  };
  // A pool that looks for work uses every period. One that is lost to others,
  // such as the thread of a sanitizer, or charged to this process because it
  // ran when the system's clock ticked, is followed by one that is not.
  constexpr long kLittle = 20000;  // microseconds, of 200,000
  long least = std::numeric_limits<long>::max();
  for (int period = 0; period < 20 && least >= kLittle; ++period) {
    const long before = used();
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    least = std::min(least, used() - before);
  }
  EXPECT_LT(least, kLittle);
}

TEST(Pool, ManyPoolsComeAndGo) {
  Counting job(3);
  for (int i = 0; i < 200; ++i) {
    Pool pool(3);
    if (i % 2 == 0) continue;
    pool.begin(&job);
    pool.call(i % 4 == 1);
    pool.end();
  }
}

TEST(Bell, WakesForNewsAndAfterATime) {
  Bell bell;
  const uint32_t seen = bell.news();
  bell.wait(seen, 3, std::chrono::milliseconds(1));  // returns
  bell.tell();
  bell.wait(seen, 0);  // at once
  std::thread sleeper([&] { bell.wait(seen + 1, 0); });
  while (bell.asleep() == 0) std::this_thread::yield();
  bell.tell();
  bell.wake();
  sleeper.join();
  EXPECT_EQ(bell.asleep(), 0);
}

}  // namespace
}  // namespace rc::cpu
