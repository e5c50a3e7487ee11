// Command R7B and A: Command R where three of four layers have a window, and
// only these rotate. Cohere 2025, arXiv:2504.00698.
#include "model/architectures/list.h"

namespace rc::model {

constexpr Architecture kCohere2 = {
    .name = "cohere2",
    .names = {.output = "token_embd.weight",
              .feed_forward_norm = "attn_norm.weight"},
    .scale_keys = true,
    .norm = {.kind = Norm::kLayerUnbiased},
    .residual = {.parallel = Presence::kAlways},
    .position = {.window = {.period = 4, .windowed = 3}},
    .rotary = {.style = RC_ROPE_ADJACENT, .only_windows = true},
    .output = {.logit_scale = LogitScale::kMultiplies},
};

}  // namespace rc::model
