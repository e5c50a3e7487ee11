// What a rendering has left of its limits. Not for several threads at a time.
#pragma once

#include <cstddef>
#include <cstdint>

#include "text/chat/fault.h"
#include "text/chat/limits.h"

namespace rc::text::chat {

class Budget {
 public:
  explicit Budget(const Limits& limits)
      : limits_(limits), steps_(limits.steps), memory_(limits.memory_bytes) {}
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
  Limits limits_;
  uint64_t steps_;
  size_t memory_;
};

}  // namespace rc::text::chat
