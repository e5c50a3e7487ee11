#include "base/work_threads.h"

#include <gtest/gtest.h>
#include <pthread.h>

#include <condition_variable>
#include <cstring>
#include <memory>
#include <mutex>
#include <set>
#include <thread>

#include "base/deep_stack.h"

namespace rc {
namespace {

// Counts what has happened.
class Count {
 public:
  void add() {
    // Under the lock: the waiting thread may destroy this then.
    const std::lock_guard lock(mutex_);
    ++count_;
    changed_.notify_all();
  }
  void wait(int count) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return count_ >= count; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int count_ = 0;
};

TEST(WorkThreads, HaveDeepStacks) {
  Count done;
  size_t used = 0;
  bool same_thread = false;
  run_on_work_thread([&] {
    volatile char bytes[size_t{4} << 20];
    std::memset(const_cast<char*>(bytes), 1, sizeof bytes);
    used = sizeof bytes + static_cast<size_t>(bytes[0]) - 1;
    const pthread_t here = pthread_self();
    same_thread =
        on_deep_stack([&] { return pthread_equal(here, pthread_self()) != 0; });
    done.add();
  });
  done.wait(1);
  EXPECT_EQ(used, size_t{4} << 20);
  EXPECT_TRUE(same_thread);
}

// Each function waits for all others.
TEST(WorkThreads, ManyFunctionsRunConcurrently) {
  constexpr int kMany = 12;
  Count begun, done;
  for (int i = 0; i < kMany; ++i) {
    run_on_work_thread([&] {
      begun.add();
      begun.wait(kMany);
      done.add();
    });
  }
  done.wait(kMany);
}

TEST(WorkThreads, AreReused) {
  std::mutex mutex;
  std::set<std::thread::id> threads;
  for (int i = 0; i < 100; ++i) {
    Count done;
    run_on_work_thread([&] {
      {
        const std::lock_guard lock(mutex);
        threads.insert(std::this_thread::get_id());
      }
      done.add();
    });
    done.wait(1);
  }
  EXPECT_LT(threads.size(), 20u);
}

TEST(WorkThreads, SurviveFunctionsThatEndTheirThread) {
  Count done;
  for (int i = 0; i < 8; ++i) {
    run_on_work_thread([&] {
      struct Ended {
        Count& done;
        ~Ended() { done.add(); }
      } const ended{done};
      pthread_exit(nullptr);
    });
  }
  done.wait(8);
  run_on_work_thread([&] { done.add(); });
  done.wait(9);
}

TEST(WorkThreads, ReleaseTheFunctionAfterItsEnd) {
  auto held = std::make_shared<Count>();
  const std::weak_ptr<Count> seen = held;
  Count done;
  struct Released {
    explicit Released(Count& count) : done(count) {}
    ~Released() { done.add(); }
    Count& done;
  };
  run_on_work_thread([released = std::make_shared<Released>(done), held] {});
  held.reset();
  done.wait(1);
  while (!seen.expired()) std::this_thread::yield();
}

}  // namespace
}  // namespace rc
