// A thread of the caller's while it is inside the library.
#pragma once

namespace rc {

// Holds off the cancellation of the calling thread (pthread_cancel): it would
// unwind through destructors, and leave what others wait for undone. What came
// meanwhile acts at the thread's next cancellation point outside.
class CallerThread {
 public:
  CallerThread() noexcept;
  // A thread that is cancelled asynchronously may end right here.
  ~CallerThread() noexcept(false);
  CallerThread(const CallerThread&) = delete;
  CallerThread& operator=(const CallerThread&) = delete;

 private:
  int cancelling_ = 0;  // the caller's state
};

}  // namespace rc
