// A loop behind a file descriptor that is readable while deliveries wait.
#include <fcntl.h>
#include <poll.h>
#include <unistd.h>
#if defined(__linux__)
#include <sys/eventfd.h>
#endif

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <climits>
#include <cstring>

#include "base/error.h"
#include "engine/delivery_queue.h"
#include "engine/loop.h"
#include "engine/loop_in_flight.h"

namespace rc::engine {
namespace {

// A descriptor that becomes readable when set and stays so until cleared.
class Signal {
 public:
  Signal() {
#if defined(__linux__)
    read_end_ = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (read_end_ >= 0) {
      write_end_ = read_end_;
      return;
    }
#endif
    int ends[2];
    if (pipe(ends) != 0) {
      const int error = errno;
      fail(RC_E_IO,
           "the system gave no descriptor for a loop: ", std::strerror(error));
    }
    for (int end : ends) {
      fcntl(end, F_SETFD, FD_CLOEXEC);
      fcntl(end, F_SETFL, O_NONBLOCK);
    }
    read_end_ = ends[0];
    write_end_ = ends[1];
  }
  ~Signal() {
    close(read_end_);
    if (write_end_ != read_end_) close(write_end_);
  }
  Signal(const Signal&) = delete;
  Signal& operator=(const Signal&) = delete;

  int descriptor() const { return read_end_; }

  void set() noexcept {
    const uint64_t one = 1;
    // A full counter or pipe is readable already.
    while (write(write_end_, &one, sizeof(one)) < 0 && errno == EINTR) {
    }
  }

  void clear() noexcept {
    uint64_t bytes[8];
    while (true) {
      const ssize_t n = read(read_end_, bytes, sizeof(bytes));
      if (n < 0 && errno == EINTR) continue;
      // One read empties an eventfd; a pipe may hold more.
      if (n < static_cast<ssize_t>(sizeof(bytes))) return;
    }
  }

 private:
  int read_end_ = -1;
  int write_end_ = -1;
};

class DescriptorLoop final : public Loop {
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

  int descriptor() override { return signal_.descriptor(); }

  size_t dispatch(size_t max) override {
    const Reading reading(*this);
    // Also when a callback ends the thread: another may go on.
    struct Rest {
      DescriptorLoop& loop;
      ~Rest() {
        if (!loop.queue_.empty()) loop.signal_.set();
      }
    } const rest{*this};
    if (max == 0) max = SIZE_MAX;
    // Cleared before looking: what is pushed later sets the signal again.
    signal_.clear();
    size_t count = 0;
    // What callbacks cause waits for the next call, or they could keep the
    // caller here for ever; hence one batch, and what was left of the last.
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
        rest = std::min<int64_t>(rest, INT_MAX);
      }
      pollfd watched = {signal_.descriptor(), POLLIN, 0};
      const int ready = poll(&watched, 1, static_cast<int>(rest));
      if (ready < 0 && errno != EINTR) {
        const int error = errno;
        fail(RC_E_IO, "poll: ", std::strerror(error));
      }
      if (ready == 0 && timeout_ms == 0 && queue_.empty()) {
        fail(RC_E_TIMEOUT, "no event waits");
      }
      if (ready > 0 && queue_.empty()) {
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
    explicit Reading(DescriptorLoop& loop) : loop_(loop) {
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
    DescriptorLoop& loop_;
  };

  Signal signal_;
  DeliveryQueue queue_;
  InFlightSet in_flight_;
  std::atomic<bool> reading_{false};
  std::atomic<bool> abandoned_{false};
};

}  // namespace

std::shared_ptr<Loop> Loop::with_descriptor() {
  return std::make_shared<DescriptorLoop>();
}

}  // namespace rc::engine
