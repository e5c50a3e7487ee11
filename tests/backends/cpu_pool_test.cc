#include "cpu/pool.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <chrono>
#include <thread>
#include <vector>

namespace rc::cpu {
namespace {

TEST(Pool, EveryThreadDoesEveryJobOnce) {
  for (int threads : {1, 2, 3, 16}) {
    Pool pool(threads);
    std::vector<int> counts(threads);
    for (int i = 0; i < 2000; ++i) {
      pool.run(
          [](void* data, int thread) {
            ++(*static_cast<std::vector<int>*>(data))[thread];
          },
          &counts);
    }
    EXPECT_EQ(counts, std::vector<int>(threads, 2000));
  }
}

// Numbers go around: each thread reads, without atomics, what its neighbour
// wrote before the barrier.
TEST(Pool, BarriersOrderPlainMemory) {
  struct Ring {
    Pool* pool;
    std::vector<int> numbers;
    std::vector<int> next;
    std::vector<int> errors;
  };
  for (int threads : {2, 3, 8}) {
    Pool pool(threads);
    Ring ring{&pool, std::vector<int>(threads), std::vector<int>(threads),
              std::vector<int>(threads)};
    for (int i = 0; i < threads; ++i) ring.numbers[i] = i;
    constexpr int kRounds = 500;
    pool.run(
        [](void* data, int thread) {
          Ring& r = *static_cast<Ring*>(data);
          const int count = r.pool->threads();
          for (int round = 0; round < kRounds; ++round) {
            r.next[thread] = r.numbers[(thread + 1) % count];
            r.pool->barrier();
            r.numbers[thread] = r.next[thread];
            r.pool->barrier();
            r.errors[thread] += r.numbers[(thread + 1) % count] !=
                                (thread + 1 + round + 1) % count;
          }
        },
        &ring);
    EXPECT_EQ(ring.errors, std::vector<int>(threads));
  }
}

TEST(Pool, UsesNoProcessorWhileIdle) {
  Pool pool(4);
  pool.run([](void*, int) {}, nullptr);
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  const auto used = [] {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_utime.tv_sec * 1000000L + usage.ru_utime.tv_usec +
           usage.ru_stime.tv_sec * 1000000L + usage.ru_stime.tv_usec;
  };
  const long before = used();
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  EXPECT_LT(used() - before, 20000);
}

TEST(Pool, ManyPoolsComeAndGo) {
  for (int i = 0; i < 200; ++i) {
    Pool pool(3);
    if (i % 2) pool.run([](void*, int) {}, nullptr);
  }
}

}  // namespace
}  // namespace rc::cpu
