// Distinguishes equal prefixes that are evaluated in different ways:
// residences, the prefix cache and saved sessions carry it.
#pragma once

#include <cstdint>

#include "base/mix.h"

namespace rc::engine {

struct Variant {
  // Rotated as a sequence of more tokens than the model's short context
  // (model::SequenceRows::longer).
  bool longer = false;

  bool operator==(const Variant&) const = default;
  uint64_t hash() const { return mix(0, longer ? 1 : 0); }
};

}  // namespace rc::engine
