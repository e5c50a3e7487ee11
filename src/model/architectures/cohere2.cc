// Command R7B and A: Command R where three of four layers have a window, and
// only these rotate. Cohere 2025, arXiv:2504.00698.
#include "model/architectures/list.h"

namespace rc::model {

constexpr Architecture kCohere2 = {
    .name = "cohere2",
    .names = {.output = "token_embd.weight",
              .feed_forward_norm = "attn_norm.weight"},
    .norm = Norm::kLayerUnbiased,
    .parallel_residual = Presence::kAlways,
    .rope_style = RC_ROPE_ADJACENT,
    .window = {.period = 4, .windowed = 3},
    .only_windows_rotate = true,
    .scale_keys = true,
    .logit_scale = LogitScale::kMultiplies,
};

}  // namespace rc::model
