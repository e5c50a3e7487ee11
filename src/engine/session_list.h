// The sessions of one model, as its handle has them, which move together to
// another engine. Thread-safe.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "engine/engine.h"

namespace rc::engine {

struct SessionState;

class SessionList {
 public:
  // Held while a session is added, and while all are moved: for moments only.
  std::mutex& mutex() { return mutex_; }
  // Under the lock. May throw std::bad_alloc.
  void add(const std::shared_ptr<SessionState>& session);
  // Under the lock.
  void remove(const SessionState& session) noexcept;
  // Those that there are, under the lock.
  std::vector<std::shared_ptr<SessionState>> sessions() const;

  // Counts the requests in flight.
  void begin_requests(int64_t count) noexcept;
  void end_requests(int64_t count) noexcept;
  // Waits until there are none, at most until the time, if there is one, and
  // until should_stop(), which may be empty, returns true.
  void wait_until_idle(
      std::optional<std::chrono::steady_clock::time_point> until,
      const std::function<bool()>& should_stop);

 private:
  std::mutex mutex_;
  std::vector<std::weak_ptr<SessionState>> entries_;

  std::mutex requests_mutex_;
  std::condition_variable changed_;
  int64_t requests_ = 0;
};

}  // namespace rc::engine
