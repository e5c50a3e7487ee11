// The library's own loop and its thread, for callers without a loop.
//
// Both live to the end of the process: an object with static storage would be
// destroyed while the engines still post to it.
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <mutex>
#include <system_error>
#include <thread>

#include "base/error.h"
#include "engine/delivery_queue.h"
#include "engine/loop.h"
#include "engine/loop_in_flight.h"

namespace rc::engine {
namespace {

// How long the end of the process waits for a callback that is running. It
// keeps the callback's data alive in the common case; a callback that itself
// waits for the main thread must not hold up the exit.
constexpr std::chrono::milliseconds kExitPatience(200);

class OwnLoop final : public Loop {
 public:
  void enter(const std::shared_ptr<InFlight>& in_flight) override {
    in_flight_.enter(in_flight);
  }

  void leave(const InFlight* in_flight) noexcept override {
    in_flight_.leave(in_flight);
  }

  void post(std::unique_ptr<Delivery> delivery) noexcept override {
    if (!queue_.push(std::move(delivery))) return;
    wakes_.fetch_add(1);
    wakes_.notify_one();
  }

  void close() noexcept override {}
  void abandon() noexcept override {}

  int descriptor() override { refuse(); }
  size_t dispatch(size_t) override { refuse(); }
  void wait(int64_t) override { refuse(); }

  [[noreturn]] void run() noexcept {
    thread_.store(std::this_thread::get_id());
    while (true) {
      const uint32_t wakes = wakes_.load();
      if (!queue_.fetch()) {
        wakes_.wait(wakes);
        continue;
      }
      while (std::unique_ptr<Delivery> delivery = queue_.next()) {
        begin_delivery();
        delivery->run();
        delivery.reset();
        end_delivery();
      }
    }
  }

  void stop_for_exit() noexcept {
    std::unique_lock lock(mutex_);
    exiting_ = true;
    if (std::this_thread::get_id() == thread_.load()) return;
    idle_.wait_for(lock, kExitPatience, [this] { return !running_; });
  }

 private:
  [[noreturn]] static void refuse() {
    fail(RC_E_INVALID_ARGUMENT, "loop: the library's own cannot be dispatched");
  }

  // After exit has begun the data of callbacks is being destroyed: stay here.
  void begin_delivery() noexcept {
    std::unique_lock lock(mutex_);
    while (exiting_) idle_.wait(lock);
    running_ = true;
  }

  void end_delivery() noexcept {
    {
      std::lock_guard lock(mutex_);
      running_ = false;
    }
    idle_.notify_all();
  }

  DeliveryQueue queue_;
  InFlightSet in_flight_;
  std::atomic<uint32_t> wakes_{0};
  std::atomic<std::thread::id> thread_{};
  std::mutex mutex_;
  std::condition_variable idle_;
  bool running_ = false;
  bool exiting_ = false;
};

std::shared_ptr<OwnLoop>* start() {
  auto loop =
      std::make_unique<std::shared_ptr<OwnLoop>>(std::make_shared<OwnLoop>());
  try {
    std::thread([own = loop->get()] { own->run(); }).detach();
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
