// Ling: Llama with experts in every layer, of which some are always used. Ling
// Team 2025, arXiv:2503.05139.
#include "model/architectures/list.h"

namespace rc::model {

constexpr Architecture kBailingMoe = {
    .name = "bailingmoe",
    .rotary = {.style = RC_ROPE_ADJACENT},
    .experts = {.presence = Presence::kAlways,
                .dense_first = true,
                .all_layers = true,
                .normalized = false,
                .shared = true},
};

}  // namespace rc::model
