// Waiting for what engines do, in programs with threads and in those without.
//
// Where there are no threads (base/threads.h) nothing happens in parallel with
// a caller that waits: it does the work of other threads itself, a turn at a
// time. Otherwise the event loop of JavaScript takes a turn between its other
// events as long as there is something to do.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>

#include "base/error.h"
#include "base/threads.h"

namespace rc::engine {

class Core;

// The work to be done in a program without threads.
class Turns {
 public:
  static void add(std::shared_ptr<Core> core);
  // Does the remaining work of an engine whose queue is stopped, and then
  // removes the engine. Within a turn this happens at its end.
  static void end(Core& core) noexcept;
  // Adds a function that a dedicated thread would call if there were threads.
  // It must not throw.
  static void add_work(std::function<void()> work);
  // Requests a turn from the event loop, because there may be work.
  static void want() noexcept;

  // Lets each engine do its pending work and one step, or calls a function of
  // add_work. Returns whether there was any work; false within a turn.
  static bool take() noexcept;
  // Whether an engine has a job whose time will come.
  static bool wait_for_time() noexcept;
  // Throws RC_E_BUSY within a turn, where nothing can be waited for.
  static void check_outside();
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
      const bool possible = Turns::take() || Turns::wait_for_time();
      lock.lock();
      if (!possible && !condition()) {
        fail(RC_E_BUSY,
             "this build has no threads, and nothing is under way that this "
             "call could wait for");
      }
    }
  }
}

}  // namespace rc::engine
