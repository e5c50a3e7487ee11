// Survives SIGBUS within given memory.
//
// The system raises the signal where a page of a mapped file cannot be read:
// the file was cut short, or its disk fails. Within guarded memory the handler
// puts zeros in the place of the whole range and notes the damage, so that
// the reader goes on and finds out afterwards that it has read zeros.
// Every other SIGBUS goes to the handler that was there before.
//
// The handler is installed with the first guard and stays. A handler
// installed later must pass on other signals to it, as it does itself; threads
// that read guarded memory must not block the signal.
#pragma once

#include <cstddef>
#include <span>

namespace rc {

class BusGuard {
 public:
  // Guards memory that begins with a mapping of a file until this is destroyed.
  // Throws RC_E_INTERNAL if the system refuses the handler.
  explicit BusGuard(std::span<const std::byte> memory);
  ~BusGuard();
  BusGuard(const BusGuard&) = delete;
  BusGuard& operator=(const BusGuard&) = delete;

  bool damaged() const noexcept;

  // One place of the list that the handler looks through.
  struct Range;

 private:
  Range* range_;
};

}  // namespace rc
