// Ling: Llama with experts in every layer, of which some are always used. Ling
// Team 2025, arXiv:2503.05139.
#include "model/architectures/list.h"

namespace rc::model {

constexpr Architecture kBailingMoe = {
    .name = "bailingmoe",
    .rope_style = RC_ROPE_ADJACENT,
    .experts = Presence::kAlways,
    .normalized_routing = false,
    .dense_first = true,
    .all_experts = true,
    .shared_expert = true,
};

}  // namespace rc::model
