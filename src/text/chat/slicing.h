// Python's slices.
#pragma once

#include <cstddef>
#include <cstdint>

#include "text/chat/value.h"

namespace rc::text::chat {

// Which elements a slice of `size` elements has: `count` of them, from `first`
// on in steps.
struct SliceIndices {
  int64_t first;
  int64_t last;  // the end that is not reached
  int64_t step;
  size_t count;
  // The i-th of them.
  size_t at(size_t i) const {
    return static_cast<size_t>(first + static_cast<int64_t>(i) * step);
  }
};
SliceIndices slice_indices(const Value& first, const Value& last,
                           const Value& step, size_t size);

// value[first:last:step] of a string, list, tuple or range; bounds may be None.
// Fails for what has no slices.
Value slice_value(Budget* budget, const Value& value, const Value& first,
                  const Value& last, const Value& step);

}  // namespace rc::text::chat
