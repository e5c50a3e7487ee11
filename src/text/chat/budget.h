// The rest of the limits of a rendering. Not for several threads at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

#include "text/chat/fault.h"
#include "text/chat/limits.h"

namespace rc::text::chat {

class Budget {
 public:
  // `should_stop` may be empty, and must outlive this.
  explicit Budget(const Limits& limits,
                  const std::function<bool()>& should_stop = never_stops())
      : limits_(limits),
        should_stop_(should_stop),
        steps_(limits.steps),
        memory_(limits.memory_bytes) {}
  Budget(const Budget&) = delete;
  Budget& operator=(const Budget&) = delete;

  const Limits& limits() const { return limits_; }

  void step(uint64_t count = 1) {
    if (count > steps_) {
      fault_of_limit("rendering takes more than ", limits_.steps,
                     " steps: shorten the conversation, or raise the limit if "
                     "the template is to be trusted");
    }
    steps_ -= count;
    // The function may be costly.
    constexpr uint64_t kStepsBetween = 2048;
    unasked_ += count;
    if (unasked_ < kStepsBetween) return;
    unasked_ = 0;
    ask();
  }
  // Stops the rendering if the caller wants that.
  void ask() const {
    if (should_stop_ && should_stop_()) {
      throw Fault{RC_E_CANCELLED, "rendering was cancelled"};
    }
  }
  // The work of going through so many bytes.
  void step_bytes(size_t bytes) {
    if (bytes >= 64) step(bytes / 64);
  }

  void take(size_t bytes) {
    if (bytes > memory_) {
      fault_of_limit("values take more than ", limits_.memory_bytes,
                     " bytes: shorten the conversation, or raise the limit if "
                     "the template is to be trusted");
    }
    memory_ -= bytes;
  }
  void give(size_t bytes) noexcept { memory_ += bytes; }

  // Within a level of nesting; `what` is nested.
  void check_depth(size_t depth, const char* what) const {
    if (depth > limits_.depth) {
      fault_of_limit(what, " are nested more than ", limits_.depth,
                     " levels deep: flatten them, or raise the limit if the "
                     "template is to be trusted");
    }
  }

 private:
  static const std::function<bool()>& never_stops() {
    static const std::function<bool()> never;
    return never;
  }

  Limits limits_;
  const std::function<bool()>& should_stop_;
  uint64_t steps_;
  uint64_t unasked_ = 0;  // steps since should_stop_ was asked
  size_t memory_;
};

}  // namespace rc::text::chat
