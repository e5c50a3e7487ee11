// The library's own loop and its thread, for callers without a loop.
//
// Both live to the end of the process: an object with static storage would be
// destroyed while the engines still post to it. A callback that ends the thread
// (pthread_exit) makes room for another one, which goes on with the rest.
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <mutex>
#include <system_error>
#include <thread>

#include "base/error.h"
#include "base/library_thread.h"
#include "base/log.h"
#include "base/work_threads.h"
#include "engine/delivery_queue.h"
#include "engine/loop.h"
#include "engine/loop_in_flight.h"

namespace rc::engine {
namespace {

// The longest time that the exit of the process waits for a running callback.
// It keeps the callback's data alive in the common case; a callback that itself
// waits for the main thread must not hold up the exit.
constexpr std::chrono::milliseconds kExitPatience(200);

class OwnLoop final : public Loop {
 public:
  // Throws std::system_error.
  void start() {
    std::thread([this] { run(); }).detach();
  }

  void enter(const std::shared_ptr<InFlight>& in_flight) override {
    in_flight_.enter(in_flight);
  }

  void leave(const InFlight* in_flight) noexcept override {
    in_flight_.leave(in_flight);
  }

  void post(std::unique_ptr<Delivery> delivery) noexcept override {
    const bool first = queue_.push(std::move(delivery));
    if (without_thread_.load()) replace_thread();
    if (!first) return;
    wakes_.fetch_add(1);
    wakes_.notify_one();
  }

  void close() noexcept override {}
  void abandon() noexcept override {}

  WaitHandle wait_handle() override { refuse(); }
  size_t dispatch(size_t) override { refuse(); }
  void wait(int64_t) override { refuse(); }

  void stop_for_exit() noexcept {
    std::unique_lock lock(mutex_);
    exiting_ = true;
    if (std::this_thread::get_id() == thread_.load()) return;
    idle_.wait_for(lock, kExitPatience, [this] { return !running_; });
  }

 private:
  // One delivery, from the moment exit has to wait for it.
  class Running {
   public:
    explicit Running(OwnLoop& loop) : loop_(loop) {
      std::unique_lock lock(loop_.mutex_);
      // After exit has begun the data of callbacks is being destroyed: stay
      // here.
      while (loop_.exiting_) loop_.idle_.wait(lock);
      loop_.running_ = true;
    }
    ~Running() {
      {
        std::lock_guard lock(loop_.mutex_);
        loop_.running_ = false;
      }
      loop_.idle_.notify_all();
    }
    Running(const Running&) = delete;
    Running& operator=(const Running&) = delete;

   private:
    OwnLoop& loop_;
  };

  // The thread, which ends only if a callback ends it.
  [[noreturn]] void run() {
    become_library_thread();
    struct ThreadExit {
      OwnLoop& loop;
      ~ThreadExit() {
        loop.without_thread_.store(true);
        loop.replace_thread();
      }
    } const exit{*this};
    thread_.store(std::this_thread::get_id());
    while (true) {
      const uint32_t wakes = wakes_.load();
      if (!queue_.fetch()) {
        wakes_.wait(wakes);
        continue;
      }
      while (std::unique_ptr<Delivery> delivery = queue_.next()) {
        const Running running(*this);
        const std::unique_ptr<Delivery> now = std::move(delivery);
        now->run();
      }
    }
  }

  // If the system refuses, the next delivery tries again.
  void replace_thread() noexcept {
    if (!without_thread_.exchange(false)) return;
    try {
      start();
    } catch (const std::exception& error) {
      without_thread_.store(true);
      log(RC_LOG_ERROR,
          "the library's loop thread was ended by a callback, and another did "
          "not start: ",
          error.what());
    }
  }

  [[noreturn]] static void refuse() {
    fail(RC_E_INVALID_ARGUMENT, "loop: the library's own cannot be dispatched");
  }

  DeliveryQueue queue_;
  InFlightSet in_flight_;
  std::atomic<uint32_t> wakes_{0};
  std::atomic<std::thread::id> thread_{};
  std::atomic<bool> without_thread_{false};
  std::mutex mutex_;
  std::condition_variable idle_;
  bool running_ = false;
  bool exiting_ = false;
};

std::shared_ptr<OwnLoop>* start() {
  auto loop =
      std::make_unique<std::shared_ptr<OwnLoop>>(std::make_shared<OwnLoop>());
  try {
    (*loop)->start();
    prepare_work_threads();
  } catch (const std::system_error& error) {
    fail(RC_E_OUT_OF_MEMORY,
         "the library's loop thread did not start: ", error.what());
  }
  return loop.release();
}

// Tried again at the next call if it fails.
const std::shared_ptr<OwnLoop>& own_loop() {
  static const std::shared_ptr<OwnLoop>* const loop = [] {
    const std::shared_ptr<OwnLoop>* started = start();
    // If the registration fails callbacks merely run on during exit.
    static_cast<void>(std::atexit([] { own_loop()->stop_for_exit(); }));
    return started;
  }();
  return *loop;
}

}  // namespace

std::shared_ptr<Loop> Loop::own() { return own_loop(); }

}  // namespace rc::engine
