// The number of a token in a model's vocabulary.
#pragma once

#include <cstdint>

namespace rc::engine {

using TokenId = int32_t;

}  // namespace rc::engine
