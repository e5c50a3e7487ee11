// Calls that nest as deep as an input says.
#pragma once

#include <cstddef>
#include <utility>

#include "base/deep_stack.h"

namespace rc {

// Calls function(), within which at most `depth` calls nest, and gives what it
// returns. A few of them take the caller's stack, which may be small; more take
// a deep one, which makes a thread where the caller has no deep stack yet. So
// the reader of a text asks once, for all of it.
template <class Function>
auto call_nested(size_t depth, Function function) {
  constexpr size_t kShallow = 8;
  return depth < kShallow ? function() : on_deep_stack(std::move(function));
}

}  // namespace rc
