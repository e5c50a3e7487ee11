// Turns on a device: who pays more of it waits longer.
#include "runtime/turn_queue.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <optional>
#include <thread>
#include <vector>

namespace rc::runtime::test {
namespace {

using namespace std::chrono_literals;

// A clock that turns move on.
std::atomic<int64_t> time_ns{0};
TurnQueue::Clock::time_point now() {
  return TurnQueue::Clock::time_point(std::chrono::nanoseconds(time_ns));
}

// Threads that wait for turns, which begin when all of them wait.
class Crowd {
 public:
  // `count` turns that last so long each.
  void add(int count, std::vector<PaidPart> paid,
           std::chrono::nanoseconds time) {
    for (int i = 0; i < count; ++i) {
      threads_.emplace_back([this, paid, time] {
        const TurnQueue::Turn turn = queue_.take(paid);
        order_.push_back(paid.empty() ? nullptr : paid.front().payer);
        times_.push_back(time);
        time_ns += time.count();
      });
      // In this order.
      while (queue_.waiting() < threads_.size()) std::this_thread::yield();
    }
  }
  void run() {
    first_.reset();
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
  }

  // Another run begins.
  void wait_again() { first_.emplace(queue_.take()); }

  // To be looked at after run(): who had the turns, and for how long.
  const std::vector<const Payer*>& order() const { return order_; }
  const std::vector<std::chrono::nanoseconds>& times() const { return times_; }

 private:
  TurnQueue queue_{now};
  std::optional<TurnQueue::Turn> first_{queue_.take()};
  std::vector<const Payer*> order_;
  std::vector<std::chrono::nanoseconds> times_;
  std::vector<std::thread> threads_;
};

TEST(TurnQueue, PayersGetEqualTime) {
  const Payer long_turns, short_turns;
  Crowd crowd;
  crowd.add(10, {{&long_turns, 1.0}}, 10ms);
  crowd.add(100, {{&short_turns, 1.0}}, 1ms);
  crowd.run();
  std::chrono::nanoseconds difference{0};
  for (size_t i = 0; i < crowd.order().size(); ++i) {
    difference +=
        crowd.order()[i] == &long_turns ? crowd.times()[i] : -crowd.times()[i];
    EXPECT_LE(std::abs(difference.count()), (10ms + 1ms) / 1ns) << i;
  }
  EXPECT_EQ(difference, 0ns);
}

TEST(TurnQueue, WeightsDivideTheTime) {
  Payer light, heavy;
  heavy.weight = 3;
  Crowd crowd;
  crowd.add(40, {{&light, 1.0}}, 1ms);
  crowd.add(60, {{&heavy, 1.0}}, 1ms);
  crowd.run();
  const auto& order = crowd.order();
  // As long as both wait.
  EXPECT_NEAR(std::count(order.begin(), order.begin() + 80, &heavy), 60, 2);
}

// A turn for several is as urgent as for the one who has had least, and each
// bears a part of it.
TEST(TurnQueue, SeveralPayersShareATurn) {
  const Payer one, other, third;
  Crowd crowd;
  crowd.add(10, {{&one, 0.5}, {&other, 0.5}}, 2ms);
  crowd.add(10, {{&third, 1.0}}, 1ms);
  crowd.run();
  for (size_t i = 0; i < crowd.order().size(); i += 2) {
    EXPECT_NE(crowd.order()[i], crowd.order()[i + 1]) << i;
  }
}

TEST(TurnQueue, TurnsOfOnePayerKeepTheirOrder) {
  const Payer payer;
  Crowd crowd;
  crowd.add(3, {{&payer, 1.0}}, 1ms);
  crowd.add(3, {{&payer, 1.0}}, 2ms);
  crowd.add(3, {{&payer, 1.0}}, 3ms);
  crowd.run();
  EXPECT_TRUE(std::is_sorted(crowd.times().begin(), crowd.times().end()));
}

// A payer without turns for a long time has saved no time.
TEST(TurnQueue, UnusedTimeIsNotSaved) {
  const Payer early, late;
  Crowd crowd;
  crowd.add(100, {{&early, 1.0}}, 1ms);
  crowd.run();
  crowd.wait_again();
  crowd.add(20, {{&early, 1.0}}, 1ms);
  crowd.add(20, {{&late, 1.0}}, 1ms);
  crowd.run();
  const auto begin = crowd.order().begin() + 100;
  EXPECT_EQ(std::count(begin, begin + 20, &late), 10);
}

TEST(TurnQueue, OneTurnRunsAtATime) {
  TurnQueue queue;
  std::atomic<int> inside{0};
  int turns = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&] {
      const Payer payer;
      const PaidPart paid[] = {{&payer, 1.0}};
      for (int n = 0; n < 500; ++n) {
        const TurnQueue::Turn turn = queue.take(paid);
        EXPECT_EQ(++inside, 1);
        ++turns;
        --inside;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(turns, 4000);
  EXPECT_EQ(queue.waiting(), 0u);
}

}  // namespace
}  // namespace rc::runtime::test
