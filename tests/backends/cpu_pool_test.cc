#include "cpu/pool.h"

#include <gtest/gtest.h>
#include <pthread.h>
#include <time.h>

#include <atomic>
#include <chrono>
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

TEST(Pool, CallWakesSleepingThreadsDuringAJob) {
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

// A job can be destroyed once all threads have left it; no thread enters it
// later.
TEST(Pool, NoThreadIsInAJobAfterItsEnd) {
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

// Measured by the helpers' own clocks: what the process used may be charged to
// other threads, such as that of a sanitizer, a tick of the system's clock at a
// time.
TEST(Pool, UsesNoProcessorWhileIdle) {
  constexpr int kThreads = 4;
  struct Clocks : Pool::Job {
    void help(int thread) override {
      pthread_getcpuclockid(pthread_self(), &of[thread]);
      called[thread] = true;
    }
    double seconds() const {
      double sum = 0;
      for (int thread = 1; thread < kThreads; ++thread) {
        timespec used{};
        EXPECT_EQ(clock_gettime(of[thread], &used), 0);
        sum += static_cast<double>(used.tv_sec) +
               static_cast<double>(used.tv_nsec) * 1e-9;
      }
      return sum;
    }
    clockid_t of[kThreads];
    std::atomic<bool> called[kThreads]{};
  };
  Pool pool(kThreads);
  Clocks clocks;
  pool.begin(&clocks);
  pool.call(true);
  for (int thread = 1; thread < kThreads; ++thread) {
    while (!clocks.called[thread]) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }
  pool.end();
  pool.wait_until_left(&clocks);
  // A helper that sleeps uses nothing at all, from when it has come to its
  // sleep; one that looks for work uses whatever it gets.
  double used = 1;
  for (int period = 0; period < 20 && used > 0; ++period) {
    const double before = clocks.seconds();
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    used = clocks.seconds() - before;
  }
  EXPECT_EQ(used, 0) << "seconds in the last of the periods";
}

// A pool that had to wait for a helper runs small jobs on one thread for some
// time.
TEST(Pool, IsCrowdedForAWhileAfterALateHelper) {
  struct Slow : Pool::Job {
    void help(int) override {
      within = true;
      while (!go) std::this_thread::sleep_for(std::chrono::microseconds(50));
    }
    std::atomic<bool> within{false};
    std::atomic<bool> go{false};
  };
  Pool pool(2);
  EXPECT_FALSE(pool.crowded());
  // This thread may have lost its processor itself, and found it done.
  bool waited = false;
  for (int ms = 5; !waited && ms < 3000; ms *= 2) {
    Slow job;
    pool.begin(&job);
    pool.call(true);
    while (!job.within) std::this_thread::yield();
    pool.end();
    std::thread later([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(ms));
      job.go = true;
    });
    waited = !pool.wait_until_left(&job);
    later.join();
  }
  ASSERT_TRUE(waited);
  pool.is_crowded();
  int alone = 0;
  while (pool.crowded()) ++alone;
  EXPECT_GT(alone, 10);
  EXPECT_FALSE(pool.crowded());
}

TEST(Pool, ManyPoolsAreCreatedAndDestroyed) {
  Counting job(3);
  for (int i = 0; i < 200; ++i) {
    Pool pool(3);
    if (i % 2 == 0) continue;
    pool.begin(&job);
    pool.call(i % 4 == 1);
    pool.end();
  }
}

TEST(EventCount, WakesOnAnEventAndAfterATimeout) {
  EventCount count;
  const uint32_t seen = count.news();
  count.wait(seen, 3, std::chrono::milliseconds(1));  // returns
  count.ring();
  count.wait(seen, 0);  // at once
  std::thread sleeper([&] { count.wait(seen + 1, 0); });
  while (count.asleep() == 0) std::this_thread::yield();
  count.ring();
  count.wake();
  sleeper.join();
  EXPECT_EQ(count.asleep(), 0);
}

}  // namespace
}  // namespace rc::cpu
