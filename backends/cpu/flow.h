// The data flow between the ops of a program. Values share memory if they do
// not live at the same time, so that their numbers alone do not show it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "tensor/op.h"

namespace rc::cpu {

class Flow {
 public:
  static constexpr size_t kNobody = static_cast<size_t>(-1);
  static constexpr int kOperands = 3;  // that are known of each op

  // Where an operand comes from.
  struct Source {
    size_t op = kNobody;  // the last one that wrote of it
    bool whole = false;   // and it is all that this has written
  };

  // `bytes` gives those of a value, which is no weight.
  Flow(std::span<const Op> ops, std::span<const rc_plugin_value> values,
       const std::function<uint64_t(int32_t value)>& bytes);

  const Source& source(size_t op, int operand) const {
    return sources_[op * kOperands + static_cast<size_t>(operand)];
  }
  // The last op that reads what this one has written; itself if none does.
  size_t last_reader(size_t op) const { return last_readers_[op]; }

 private:
  std::vector<Source> sources_;
  std::vector<size_t> last_readers_;
};

}  // namespace rc::cpu
