// Phi 3 and 4: one matrix for queries, keys and values, and one for the gate
// and what it gates. Abdin et al. 2024, arXiv:2404.14219.
#include "model/architectures/list.h"

namespace rc::model {

constexpr Architecture kPhi3 = {
    .name = "phi3",
    .position = {.window = {.period = 1, .windowed = 1}},
    .rotary = {.long_factors = true},
    .attention = {.fused = Presence::kOptional},
    .feed_forward = {.gate = {.fused = true}},
};

}  // namespace rc::model
