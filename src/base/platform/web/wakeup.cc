// Emscripten has descriptors, but nothing waits for them: its poll returns at
// once.
#include "base/wakeup.h"

#include <algorithm>
#include <chrono>

#include "base/error.h"

namespace rc {

Wakeup::Wakeup() = default;
Wakeup::~Wakeup() = default;

WaitHandle Wakeup::handle() const {
  fail(RC_E_UNSUPPORTED,
       "in WebAssembly no handle of a loop can be watched: call rc_loop_wait, "
       "or "
       "rc_loop_dispatch from time to time");
}

void Wakeup::set() noexcept {
  {
    const std::lock_guard lock(mutex_);
    set_ = true;
  }
  changed_.notify_all();
}

void Wakeup::clear() noexcept {
  const std::lock_guard lock(mutex_);
  set_ = false;
}

bool Wakeup::wait(int64_t timeout_ms) {
  std::unique_lock lock(mutex_);
  const auto is_set = [this] { return set_; };
  if (timeout_ms < 0) {
    changed_.wait(lock, is_set);
    return true;
  }
  // Clocks cannot count on for as long as callers may.
  const std::chrono::milliseconds limit(
      std::min<int64_t>(timeout_ms, 86400000));
  return changed_.wait_for(lock, limit, is_set);
}

}  // namespace rc
