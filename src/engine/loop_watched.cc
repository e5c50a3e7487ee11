// A loop for event loops of all kinds, with a handle that they watch.
#include <atomic>
#include <chrono>
#include <cstdint>

#include "base/error.h"
#include "base/threads.h"
#include "base/wakeup.h"
#include "engine/delivery_queue.h"
#include "engine/loop.h"
#include "engine/loop_in_flight.h"
#include "engine/turns.h"

namespace rc::engine {
namespace {

class WatchedLoop final : public Loop {
 public:
  void enter(const std::shared_ptr<InFlight>& in_flight) override {
    in_flight_.enter(in_flight);
  }

  void leave(const InFlight* in_flight) noexcept override {
    in_flight_.leave(in_flight);
  }

  void post(std::unique_ptr<Delivery> delivery) noexcept override {
    if (queue_.push(std::move(delivery))) signal_.set();
    // Deliveries hold the loop through their requests: those that no thread
    // will fetch would keep all of it for ever.
    if (abandoned_.load()) queue_.discard_arrived();
  }

  void close() noexcept override {
    in_flight_.close();
    signal_.set();  // a thread in wait() has to look again
  }

  void abandon() noexcept override {
    abandoned_.store(true);
    in_flight_.close();
    queue_.discard_arrived();
    // A dispatch under way drops its batch itself.
    if (!reading_.exchange(true)) {
      queue_.discard_batch();
      reading_.store(false);
    }
  }

  WaitHandle wait_handle() override { return signal_.handle(); }

  size_t dispatch(size_t max) override {
    const Reading reading(*this);
    // Also when a callback ends the thread: another may go on.
    struct Rest {
      WatchedLoop& loop;
      ~Rest() {
        if (!loop.queue_.empty()) loop.signal_.set();
      }
    } const rest{*this};
    if (max == 0) max = SIZE_MAX;
    if constexpr (!kThreads) Turns::take();
    // Cleared before looking: what is pushed later sets the signal again.
    signal_.clear();
    size_t count = 0;
    // Events that callbacks cause wait for the next call, or they could keep
    // the caller here for ever; hence one batch, and the rest of the last.
    for (int batches = queue_.holds_batch() ? 2 : 1;
         batches > 0 && queue_.fetch(); --batches) {
      while (count < max && !abandoned_.load()) {
        std::unique_ptr<Delivery> delivery = queue_.next();
        if (delivery == nullptr) break;
        ++count;
        delivery->run();
      }
      if (abandoned_.load()) queue_.discard_batch();
      if (count == max) break;
    }
    return count;
  }

  void wait(int64_t timeout_ms) override {
    using Clock = std::chrono::steady_clock;
    const Reading reading(*this);
    const Clock::time_point begin = Clock::now();
    while (queue_.empty()) {
      if (in_flight_.finished()) {
        fail(RC_E_CLOSED,
             "the loop is closed and no request is in flight on it");
      }
      int64_t rest = -1;
      if (timeout_ms >= 0) {
        const auto passed =
            std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() -
                                                                  begin);
        rest = timeout_ms - passed.count();
        if (rest < 0 || (rest == 0 && timeout_ms > 0)) {
          fail(RC_E_TIMEOUT, "no event came within ", timeout_ms, " ms");
        }
      }
      if constexpr (!kThreads) {
        if (Turns::take() || !queue_.empty()) continue;
        if (timeout_ms < 0 && !Turns::wait_for_time()) {
          fail(RC_E_BUSY,
               "nothing is under way that an event could come of, and this "
               "build has no threads that could begin something");
        }
      }
      const bool woken = signal_.wait(kThreads ? rest : 0);
      if (!woken && timeout_ms == 0 && queue_.empty()) {
        fail(RC_E_TIMEOUT, "no event waits");
      }
      if (woken && queue_.empty()) {
        signal_.clear();
        // The clearing may have eaten the signal of a push just now.
        if (!queue_.empty()) signal_.set();
      }
    }
  }

 private:
  // The right to read the queue.
  class Reading {
   public:
    explicit Reading(WatchedLoop& loop) : loop_(loop) {
      if (loop_.reading_.exchange(true)) {
        fail(RC_E_BUSY,
             "the loop is being dispatched or waited for: one thread at a "
             "time may, and no callback");
      }
    }
    ~Reading() { loop_.reading_.store(false); }
    Reading(const Reading&) = delete;
    Reading& operator=(const Reading&) = delete;

   private:
    WatchedLoop& loop_;
  };

  Wakeup signal_;
  DeliveryQueue queue_;
  InFlightSet in_flight_;
  std::atomic<bool> reading_{false};
  std::atomic<bool> abandoned_{false};
};

}  // namespace

std::shared_ptr<Loop> Loop::watched() {
  return std::make_shared<WatchedLoop>();
}

}  // namespace rc::engine
