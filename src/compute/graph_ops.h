// Which ops of a recording a graph runs.
#pragma once

#include <cstdint>
#include <span>

#include "compute/graph_recording.h"

namespace rc::compute {

// Leaves of the ops those that the bases `results` need, and as few of them as
// the schema allows: a MATMUL takes the bias that is added to its result, and
// the function that is applied then. Chains of elementwise ops stay as they
// are; backends that can do them at once find them.
void keep_needed(Recorded& recorded, std::span<const int32_t> results);

}  // namespace rc::compute
