// Waiting for what engines do, in programs with threads and in those without.
//
// Where there are no threads (base/threads.h) nothing happens beside a caller
// who waits: it does itself, a turn at a time, what the engine threads would
// do.
#pragma once

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>

#include "base/error.h"
#include "base/threads.h"

namespace rc::engine {

class Core;

// The engines of a program without threads.
class Turns {
 public:
  static void add(std::shared_ptr<Core> core);
  // Of an engine whose queue is stopped: what is left in it, and no more turns.
  // Within a turn that comes at its end.
  static void end(Core& core) noexcept;
  // Lets each engine do what it has to do now, and a step. Whether any had
  // something to do; false within a turn.
  static bool take() noexcept;
};

// Waits until the condition, which is about what the lock protects, holds or
// the time has come; whether it holds.
template <class Condition>
bool wait_until(std::condition_variable& changed,
                std::unique_lock<std::mutex>& lock,
                std::chrono::steady_clock::time_point until,
                Condition condition) {
  if constexpr (kThreads) {
    return changed.wait_until(lock, until, condition);
  } else {
    while (!condition()) {
      if (std::chrono::steady_clock::now() >= until) return false;
      lock.unlock();
      Turns::take();
      lock.lock();
    }
    return true;
  }
}

// The same without a limit. Throws RC_E_BUSY where no one is left who could
// make the condition hold.
template <class Condition>
void wait(std::condition_variable& changed, std::unique_lock<std::mutex>& lock,
          Condition condition) {
  if constexpr (kThreads) {
    changed.wait(lock, condition);
  } else {
    while (!condition()) {
      lock.unlock();
      const bool moved = Turns::take();
      lock.lock();
      if (!moved && !condition()) {
        fail(RC_E_BUSY,
             "this build has no threads, and a callback waits for what only "
             "its caller can do");
      }
    }
  }
}

}  // namespace rc::engine
