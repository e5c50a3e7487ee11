// An object on which a thread, or an event loop, waits until another one wakes
// it.
#pragma once

#include <cstdint>

#include "runcible/loop.h"

#if defined(__EMSCRIPTEN__)
#include <condition_variable>
#include <mutex>
#endif

namespace rc {

// A handle that an event loop of the program can watch; see rc_loop_handle.
struct WaitHandle {
  rc_loop_handle_kind kind;
  intptr_t value;
};

// Set by any thread, and stays so until it is cleared.
class Wakeup {
 public:
  // Throws RC_E_IO if the system gives no handle.
  Wakeup();
  ~Wakeup();
  Wakeup(const Wakeup&) = delete;
  Wakeup& operator=(const Wakeup&) = delete;

  // Signalled while it is set. Throws RC_E_UNSUPPORTED where a program cannot
  // watch handles.
  WaitHandle handle() const;

  void set() noexcept;
  void clear() noexcept;

  // Whether it is set, after at most timeout_ms (0: at once; negative: no
  // limit); may come back earlier. Throws RC_E_IO.
  bool wait(int64_t timeout_ms);

 private:
#if defined(__EMSCRIPTEN__)
  std::mutex mutex_;
  std::condition_variable changed_;
  bool set_ = false;
#else
  int read_end_ = -1;
  int write_end_ = -1;
#endif
};

}  // namespace rc
