#include "streams/wait.h"

#include <chrono>
#include <thread>

namespace rc::streams {

bool wait_for(Driver& driver, EventHandle event, int64_t timeout_ms) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point began = Clock::now();
  // A step of a text takes less than it takes to wake a thread.
  constexpr auto kAwake = std::chrono::microseconds(200);
  while (!driver.is_over(event)) {
    const auto waited = Clock::now() - began;
    if (timeout_ms >= 0 && waited >= std::chrono::milliseconds(timeout_ms)) {
      return false;
    }
    if (waited < kAwake) {
      std::this_thread::yield();
    } else if (timeout_ms < 0) {
      driver.wait(event);
    } else {
      std::this_thread::sleep_for(kAwake / 2);
    }
  }
  return true;
}

}  // namespace rc::streams
