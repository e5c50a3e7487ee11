// The work in flight on a loop, and whether the loop takes more. Thread-safe.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <mutex>

#include "engine/loop.h"

namespace rc::engine {

class InFlightSet {
 public:
  // Throws RC_E_CLOSED.
  void enter(const std::shared_ptr<InFlight>& in_flight);
  void leave(const InFlight* in_flight) noexcept;
  // Takes no more, and cancels every member.
  void close() noexcept;
  bool closed() const noexcept;
  size_t count() const noexcept;
  // Nothing is in flight and nothing will be.
  bool finished() const noexcept;

 private:
  mutable std::mutex mutex_;
  std::map<const InFlight*, std::weak_ptr<InFlight>> members_;
  bool closed_ = false;
};

}  // namespace rc::engine
