// Turns on a device, which works for one caller at a time.
//
// Callers that wait get turns by start-time fair queueing (Goyal, Vin and
// Cheng, SIGCOMM 1996): a turn starts, in virtual time, when its payer has used
// up the turns before; each second that the device works counts by the payer's
// weight; and the earliest start is next. While two payers both have turns
// waiting, the time that the device works for them differs, by their weights,
// by no more than the longest turn of each. Where there is no competition a
// turn costs a lock.
//
// Thread-safe.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <map>
#include <mutex>
#include <span>
#include <utility>

namespace rc::runtime {

// A payer of turns, which its address identifies.
struct Payer {
  std::atomic<double> weight{1.0};  // of its share, more than 0
};

// The part of a turn that one payer bears; those of a turn add up to 1.
struct PaidPart {
  const Payer* payer = nullptr;
  double part = 1.0;
};

class TurnQueue {
 public:
  using Clock = std::chrono::steady_clock;
  // `now` returns the time.
  explicit TurnQueue(Clock::time_point (*now)() = Clock::now) : clock_(now) {}

  // The right to use the device as long as it lives.
  class Turn {
   public:
    Turn(TurnQueue& queue, std::span<const PaidPart> paid)
        : queue_(&queue), paid_(paid) {
      queue.begin(paid_);
    }
    Turn(Turn&& other) noexcept
        : queue_(std::exchange(other.queue_, nullptr)), paid_(other.paid_) {}
    Turn& operator=(Turn&&) = delete;
    ~Turn() {
      if (queue_ != nullptr) queue_->end(paid_);
    }

   private:
    TurnQueue* queue_;
    const std::span<const PaidPart> paid_;
  };

  // Waits for a turn. `paid` is to stay until its end. Turns without a payer
  // have one in common.
  Turn take(std::span<const PaidPart> paid = {}) { return Turn(*this, paid); }

  // Returns the number of waiting turns.
  size_t waiting() const;

 private:
  struct Waiter {
    std::span<const PaidPart> paid;
    std::condition_variable changed;
    bool is_next = false;
    Waiter* behind = nullptr;
  };

  void begin(std::span<const PaidPart> paid);
  void end(std::span<const PaidPart> paid) noexcept;
  // Under the lock, in virtual time: seconds of weight 1.
  double start_of(std::span<const PaidPart> paid) const;
  void charge(std::span<const PaidPart> paid, double seconds) noexcept;

  Clock::time_point (*const clock_)();
  mutable std::mutex mutex_;
  bool busy_ = false;
  Waiter* first_ = nullptr;  // in order of arrival
  double now_ = 0.0;         // virtual: the start of the turn under way
  Clock::time_point began_;  // the turn under way, if others wait
  // When payers have used up what they had; of those not here: now_.
  std::map<const Payer*, double> used_up_;
};

}  // namespace rc::runtime
