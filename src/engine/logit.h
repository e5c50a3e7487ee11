// The bounds of logits: minus infinity is a token that is forbidden; all others
// are finite, so that their differences are numbers.
#pragma once

#include <limits>

namespace rc::engine {

inline constexpr float kInfinity = std::numeric_limits<float>::infinity();
inline constexpr float kLargest = std::numeric_limits<float>::max();
inline constexpr double kLn2 = 0x1.62e42fefa39efp-1;

}  // namespace rc::engine
