#include "engine/loop.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <uv.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <latch>
#include <thread>
#include <vector>

#include "base/error.h"
#include "engine/loop_util.h"

namespace rc::engine {
namespace {

using test::Flight;
using test::post;

bool readable(int descriptor, int timeout_ms = 0) {
  pollfd watched = {descriptor, POLLIN, 0};
  return poll(&watched, 1, timeout_ms) == 1;
}

rc_status status_of(const std::function<void()>& function) {
  try {
    function();
    return RC_OK;
  } catch (const Error& error) {
    EXPECT_FALSE(error.message().empty());
    return error.status();
  }
}

TEST(WatchedLoop, DeliversInOrderUpToTheMaximum) {
  const auto loop = Loop::watched();
  EXPECT_FALSE(readable(static_cast<int>(loop->wait_handle().value)));
  std::vector<int> seen;
  for (int i = 0; i < 5; ++i) post(*loop, [&seen, i] { seen.push_back(i); });
  EXPECT_TRUE(readable(static_cast<int>(loop->wait_handle().value)));
  EXPECT_EQ(loop->dispatch(2), 2u);
  EXPECT_TRUE(readable(static_cast<int>(loop->wait_handle().value)));
  post(*loop, [&seen] { seen.push_back(5); });
  EXPECT_EQ(loop->dispatch(0), 4u);
  EXPECT_EQ(seen, (std::vector<int>{0, 1, 2, 3, 4, 5}));
  EXPECT_FALSE(readable(static_cast<int>(loop->wait_handle().value)));
  EXPECT_EQ(loop->dispatch(0), 0u);
}

TEST(WatchedLoop, PostFromACallbackRunsInTheNextDispatch) {
  const auto loop = Loop::watched();
  int second = 0;
  post(*loop, [&] { post(*loop, [&] { ++second; }); });
  EXPECT_EQ(loop->dispatch(0), 1u);
  EXPECT_EQ(second, 0);
  EXPECT_TRUE(readable(static_cast<int>(loop->wait_handle().value)));
  EXPECT_EQ(loop->dispatch(0), 1u);
  EXPECT_EQ(second, 1);
}

TEST(WatchedLoop, RefusesDispatchFromACallback) {
  const auto loop = Loop::watched();
  rc_status dispatching = RC_OK, waiting = RC_OK;
  post(*loop, [&] {
    dispatching = status_of([&] { loop->dispatch(0); });
    waiting = status_of([&] { loop->wait(0); });
  });
  loop->dispatch(0);
  EXPECT_EQ(dispatching, RC_E_BUSY);
  EXPECT_EQ(waiting, RC_E_BUSY);
}

TEST(WatchedLoop, WaitEndsByEventTimeoutOrClosing) {
  const auto loop = Loop::watched();
  EXPECT_EQ(status_of([&] { loop->wait(0); }), RC_E_TIMEOUT);
  EXPECT_EQ(status_of([&] { loop->wait(20); }), RC_E_TIMEOUT);
  std::thread poster([&] { post(*loop, [] {}); });
  EXPECT_EQ(status_of([&] { loop->wait(-1); }), RC_OK);
  poster.join();
  EXPECT_TRUE(readable(static_cast<int>(loop->wait_handle().value)));
  loop->dispatch(0);
  std::thread closer([&] { loop->close(); });
  EXPECT_EQ(status_of([&] { loop->wait(-1); }), RC_E_CLOSED);
  closer.join();
}

TEST(WatchedLoop, ClosingCancelsRequestsAndRefusesNewOnes) {
  const auto loop = Loop::watched();
  int cancelled = 0;
  std::vector<std::shared_ptr<Flight>> flights;
  for (int i = 0; i < 3; ++i) {
    flights.push_back(std::make_shared<Flight>([&] { ++cancelled; }));
    loop->enter(flights.back());
  }
  loop->close();
  EXPECT_EQ(cancelled, 3);
  EXPECT_EQ(status_of([&] { loop->enter(std::make_shared<Flight>()); }),
            RC_E_CLOSED);
  EXPECT_EQ(status_of([&] { loop->wait(0); }), RC_E_TIMEOUT);
  for (const auto& flight : flights) {
    post(*loop, [&] { loop->leave(flight.get()); });
  }
  EXPECT_EQ(loop->dispatch(0), 3u);
  EXPECT_EQ(status_of([&] { loop->wait(-1); }), RC_E_CLOSED);
}

TEST(WatchedLoop, AnAbandonedLoopDropsDeliveriesAndFreesThem) {
  auto loop = Loop::watched();
  auto held = std::make_shared<int>(0);
  const std::weak_ptr<int> freed = held;
  // As requests do, the deliveries keep the loop.
  post(*loop, [loop, held] { FAIL(); });
  loop->abandon();
  post(*loop, [loop, held] { FAIL(); });
  const std::weak_ptr<Loop> freed_loop = loop;
  held.reset();
  loop.reset();
  EXPECT_TRUE(freed.expired());
  EXPECT_TRUE(freed_loop.expired());
}

TEST(WatchedLoop, CanBeAbandonedFromACallback) {
  auto loop = Loop::watched();
  int second = 0;
  post(*loop, [loop] { loop->abandon(); });
  post(*loop, [loop, &second] { ++second; });
  EXPECT_EQ(loop->dispatch(0), 1u);
  EXPECT_EQ(second, 0);
  const std::weak_ptr<Loop> freed = loop;
  loop.reset();
  EXPECT_TRUE(freed.expired());
}

TEST(WatchedLoop, ManyThreadsPostAndEachDeliveryRunsOnceInOrder) {
  constexpr int kThreads = 4, kEach = 20000;
  const auto loop = Loop::watched();
  std::vector<std::vector<int>> seen(kThreads);
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < kEach; ++i) {
        post(*loop, [&seen, t, i] { seen[t].push_back(i); });
      }
    });
  }
  size_t count = 0;
  while (count < size_t{kThreads} * kEach) {
    ASSERT_TRUE(readable(static_cast<int>(loop->wait_handle().value), 60000))
        << count;
    count += loop->dispatch(100);
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::vector<int>& list : seen) {
    ASSERT_EQ(list.size(), size_t{kEach});
    for (int i = 0; i < kEach; ++i) ASSERT_EQ(list[i], i);
  }
  EXPECT_EQ(loop->dispatch(0), 0u);
}

// A timer of a loop that ends, and with it what keeps the loop alive, when the
// flag is set.
class TimerUntil {
 public:
  TimerUntil(uv_loop_t* loop, const std::atomic<bool>& flag) : flag_(flag) {
    EXPECT_EQ(uv_timer_init(loop, &timer_), 0);
    timer_.data = this;
    EXPECT_EQ(uv_timer_start(&timer_, look, 1, 1), 0);
  }
  TimerUntil(const TimerUntil&) = delete;
  TimerUntil& operator=(const TimerUntil&) = delete;

  std::atomic<bool> ended{false};

 private:
  static void look(uv_timer_t* timer) {
    if (!static_cast<TimerUntil*>(timer->data)->flag_) return;
    uv_close(reinterpret_cast<uv_handle_t*>(timer), [](uv_handle_t* handle) {
      static_cast<TimerUntil*>(handle->data)->ended = true;
    });
  }

  const std::atomic<bool>& flag_;
  uv_timer_t timer_;
};

class UvLoopTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(uv_loop_init(&uv_), 0);
    loop_ = Loop::on_uv(&uv_);
  }
  // Gives the last handle back and expects libuv to be left clean.
  void finish() {
    if (loop_ != nullptr) loop_->abandon();
    loop_.reset();
    EXPECT_EQ(uv_run(&uv_, UV_RUN_DEFAULT), 0);
    EXPECT_EQ(uv_loop_close(&uv_), 0);
  }
  uv_loop_t uv_;
  std::shared_ptr<Loop> loop_;
};

TEST_F(UvLoopTest, DoesNotKeepAnIdleLoopAlive) {
  EXPECT_EQ(uv_loop_alive(&uv_), 0);
  EXPECT_EQ(uv_run(&uv_, UV_RUN_DEFAULT), 0);
  finish();
}

TEST_F(UvLoopTest, KeepsTheLoopAliveWhileInFlightAndRunsOnItsThread) {
  const auto flight = std::make_shared<Flight>();
  loop_->enter(flight);
  EXPECT_NE(uv_loop_alive(&uv_), 0);
  std::thread::id ran_on;
  std::thread poster([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    post(*loop_, [&] {
      ran_on = std::this_thread::get_id();
      loop_->leave(flight.get());
    });
  });
  EXPECT_EQ(uv_run(&uv_, UV_RUN_DEFAULT), 0);
  EXPECT_EQ(ran_on, std::this_thread::get_id());
  poster.join();
  finish();
}

TEST_F(UvLoopTest, AnotherThreadEntersARunningLoop) {
  std::atomic<bool> entered{false};
  TimerUntil timer(&uv_, entered);
  const auto flight = std::make_shared<Flight>();
  bool ran = false;
  std::thread other([&] {
    loop_->enter(flight);
    entered = true;
    // From then on nothing else keeps the loop alive.
    while (!timer.ended) std::this_thread::yield();
    post(*loop_, [&] {
      ran = true;
      loop_->leave(flight.get());
    });
  });
  EXPECT_EQ(uv_run(&uv_, UV_RUN_DEFAULT), 0);
  EXPECT_TRUE(ran);
  other.join();
  finish();
}

TEST_F(UvLoopTest, ClosingCancelsRequestsInFlight) {
  const InFlight* entered = nullptr;
  const auto flight = std::make_shared<Flight>([&] {
    std::thread([loop = loop_, entered] {
      post(*loop, [loop = loop.get(), entered] { loop->leave(entered); });
    }).detach();
  });
  entered = flight.get();
  loop_->enter(flight);
  loop_->close();
  EXPECT_EQ(status_of([&] { loop_->enter(std::make_shared<Flight>()); }),
            RC_E_CLOSED);
  EXPECT_EQ(uv_run(&uv_, UV_RUN_DEFAULT), 0);
  // The handle is gone although the loop was not given back.
  EXPECT_EQ(uv_loop_close(&uv_), 0);
  loop_->abandon();
  loop_.reset();
}

TEST_F(UvLoopTest, CanBeReleasedFromACallback) {
  const auto flight = std::make_shared<Flight>();
  loop_->enter(flight);
  Loop* loop = loop_.get();
  post(*loop, [&] {
    loop_->abandon();
    loop_.reset();
    loop->leave(flight.get());
  });
  EXPECT_EQ(uv_run(&uv_, UV_RUN_DEFAULT), 0);
  EXPECT_EQ(uv_loop_close(&uv_), 0);
}

TEST_F(UvLoopTest, CanBeReleasedOnAnotherThreadWhileRunning) {
  std::atomic<bool> given_back{false};
  const TimerUntil timer(&uv_, given_back);
  std::thread other([&] {
    loop_->abandon();
    loop_.reset();
    given_back = true;
  });
  EXPECT_EQ(uv_run(&uv_, UV_RUN_DEFAULT), 0);
  other.join();
  EXPECT_EQ(uv_loop_close(&uv_), 0);
}

TEST_F(UvLoopTest, CannotBeDispatched) {
  EXPECT_EQ(status_of([&] { loop_->dispatch(0); }), RC_E_INVALID_ARGUMENT);
  EXPECT_EQ(status_of([&] { loop_->wait_handle(); }), RC_E_INVALID_ARGUMENT);
  EXPECT_EQ(status_of([&] { loop_->wait(0); }), RC_E_INVALID_ARGUMENT);
  finish();
}

TEST_F(UvLoopTest, PostersNeverTouchAClosedHandle) {
  // The last delivery may have run, and libuv's loop be gone, while its poster
  // is still on the way to waking it.
  finish();
  for (int round = 0; round < 200; ++round) {
    ASSERT_EQ(uv_loop_init(&uv_), 0);
    auto loop = Loop::on_uv(&uv_);
    const auto flight = std::make_shared<Flight>();
    loop->enter(flight);
    std::latch begin(2);
    std::thread poster([loop, flight, &begin] {
      begin.arrive_and_wait();
      post(*loop, [] {});
      post(*loop, [loop, flight] { loop->leave(flight.get()); });
    });
    begin.arrive_and_wait();
    loop->abandon();
    loop.reset();
    ASSERT_EQ(uv_run(&uv_, UV_RUN_DEFAULT), 0);
    ASSERT_EQ(uv_loop_close(&uv_), 0);
    poster.join();
  }
}

TEST(OwnLoop, IsSharedAndRunsOnADedicatedThread) {
  const auto loop = Loop::own();
  EXPECT_EQ(loop, Loop::own());
  std::atomic<bool> done{false};
  std::thread::id ran_on;
  post(*loop, [&] {
    ran_on = std::this_thread::get_id();
    done = true;
    done.notify_one();
  });
  done.wait(false);
  EXPECT_NE(ran_on, std::this_thread::get_id());
}

// A process may end while deliveries run and more are posted.
[[noreturn]] void exit_under_fire(bool from_callback) {
  const auto loop = Loop::own();
  static std::atomic<int> delivered{0};
  std::thread([loop] {
    while (true) {
      post(*loop, [] { ++delivered; });
      std::this_thread::yield();
    }
  }).detach();
  while (delivered < 100) std::this_thread::yield();
  if (from_callback) {
    post(*loop, [] { std::exit(7); });
    while (true) std::this_thread::sleep_for(std::chrono::seconds(1));
  }
  std::exit(7);
}

TEST(OwnLoopDeathTest, TheProcessMayEndAtAnyTime) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(exit_under_fire(false), testing::ExitedWithCode(7), "");
  EXPECT_EXIT(exit_under_fire(true), testing::ExitedWithCode(7), "");
}

[[noreturn]] void exit_while_a_callback_blocks() {
  const auto loop = Loop::own();
  static std::atomic<bool> inside{false};
  post(*loop, [] {
    inside = true;
    while (true) std::this_thread::sleep_for(std::chrono::seconds(1));
  });
  while (!inside) std::this_thread::yield();
  std::exit(8);
}

TEST(OwnLoopDeathTest, BlockingCallbackDoesNotDelayTheExit) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(exit_while_a_callback_blocks(), testing::ExitedWithCode(8), "");
}

}  // namespace
}  // namespace rc::engine
