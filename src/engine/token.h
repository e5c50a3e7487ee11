// The number of a token in a model's vocabulary.
#pragma once

#include <cstdint>

namespace rc::engine {

using TokenId = int32_t;

// At a position of a session that has an embedding row instead of a token.
inline constexpr TokenId kNoToken = -1;

}  // namespace rc::engine
