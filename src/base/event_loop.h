// The event loop of JavaScript, in WebAssembly: that of the thread on which the
// module was made.
#pragma once

#include <atomic>

namespace rc {

// Something that the event loop is asked to do. Lives as long as the program.
class EventLoopTask {
 public:
  // `run` is called on the loop's thread, from nothing but the loop.
  explicit constexpr EventLoopTask(void (*run)()) : run_(run) {}

  // Asks for one more call. Any thread; what was asked for before and has not
  // begun is the same call. Events of the page come between calls.
  void soon() noexcept;
  // On the loop's thread: the same after a time, unless it is asked for soon or
  // for another time before.
  void after(double milliseconds) noexcept;

  // For the loop.
  void begin();

 private:
  void (*const run_)();
  std::atomic<bool> asked_{false};
};

}  // namespace rc
