// A thread of the caller's while it is inside the library.
#pragma once

#include <cfenv>

namespace rc {

// Holds off the cancellation of the calling thread (pthread_cancel): it would
// unwind through destructors, and leave what others wait for undone. What came
// meanwhile acts at the thread's next cancellation point outside.
//
// Gives it the default floating-point environment, so that results do not
// depend on the caller's, nor trap, and the caller's back in the end. Cheap
// where it is the default one.
class CallerThread {
 public:
  CallerThread() noexcept;
  // A thread that is cancelled asynchronously may end right here.
  ~CallerThread() noexcept(false);
  CallerThread(const CallerThread&) = delete;
  CallerThread& operator=(const CallerThread&) = delete;

 private:
  friend class CallerFloats;

  int cancelling_ = 0;  // the caller's state
  const bool default_floats_;
  std::fenv_t floats_;  // the caller's, unless they are the default
  const CallerThread* outer_ = nullptr;
};

// While a callback runs on a thread of the caller's: the floating-point
// environment with which the caller came in. On others it does nothing.
class CallerFloats {
 public:
  CallerFloats() noexcept;
  ~CallerFloats();
  CallerFloats(const CallerFloats&) = delete;
  CallerFloats& operator=(const CallerFloats&) = delete;

 private:
  const CallerThread* const inside_;
};

}  // namespace rc
