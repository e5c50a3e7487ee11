// Lets a long piece of work be stopped from outside.
#pragma once

#include <cstddef>
#include <functional>

#include "base/error.h"

namespace rc::text {

// Asks a function that may be costly at one step in a few thousand.
class StopCheck {
 public:
  // `should_stop` may be empty, and must outlive this.
  explicit StopCheck(const std::function<bool()>& should_stop)
      : should_stop_(should_stop) {}

  // To be called at every step, of up to about a hundred bytes of text. Throws
  // RC_E_CANCELLED.
  void step() {
    if (++steps_ % kStepsBetween == 0) ask();
  }

 private:
  static constexpr size_t kStepsBetween = 2048;

  void ask() const {
    if (should_stop_ && should_stop_()) {
      fail(RC_E_CANCELLED, "tokenizing was cancelled");
    }
  }

  const std::function<bool()>& should_stop_;
  size_t steps_ = 0;
};

}  // namespace rc::text
