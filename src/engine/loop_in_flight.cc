#include "engine/loop_in_flight.h"

#include "base/error.h"

namespace rc::engine {

void InFlightSet::enter(const std::shared_ptr<InFlight>& in_flight) {
  std::lock_guard lock(mutex_);
  if (closed_) {
    fail(RC_E_CLOSED, "the loop was closed and takes no more requests");
  }
  members_.emplace(in_flight.get(), in_flight);
}

void InFlightSet::leave(const InFlight* in_flight) noexcept {
  std::lock_guard lock(mutex_);
  members_.erase(in_flight);
}

void InFlightSet::close() noexcept {
  const InFlight* last = nullptr;
  while (true) {
    // Cancelling and dropping the reference may run code that comes back to
    // this set, so neither happens under the lock.
    std::shared_ptr<InFlight> member;
    {
      std::lock_guard lock(mutex_);
      closed_ = true;
      auto at = last == nullptr ? members_.begin() : members_.upper_bound(last);
      while (at != members_.end() && member == nullptr) {
        last = at->first;
        member = at->second.lock();
        ++at;
      }
    }
    if (member == nullptr) return;
    member->cancel();
  }
}

bool InFlightSet::closed() const noexcept {
  std::lock_guard lock(mutex_);
  return closed_;
}

size_t InFlightSet::count() const noexcept {
  std::lock_guard lock(mutex_);
  return members_.size();
}

bool InFlightSet::finished() const noexcept {
  std::lock_guard lock(mutex_);
  return closed_ && members_.empty();
}

}  // namespace rc::engine
