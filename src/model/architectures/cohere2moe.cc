// Command A+ and North: Command R7B with experts. Of layers that see all only
// the dense ones before those with experts rotate; norms may be root mean
// squares. Cohere 2026, https://huggingface.co/CohereLabs.
#include "model/architectures/list.h"

namespace rc::model {

constexpr Architecture kCohere2Moe = {
    .name = "cohere2moe",
    .names = {.feed_forward_norm = "attn_norm.weight", .selection_bias = ""},
    .norm = Norm::kLayerUnbiased,
    .norms_by_epsilon = true,
    .parallel_residual = Presence::kAlways,
    .rope_style = RC_ROPE_ADJACENT,
    .window = {.period = 4, .windowed = 3},
    .only_windows_rotate = true,
    .dense_layers_rotate = true,
    .scale_keys = true,
    .logit_scale = LogitScale::kMultiplies,
    .experts = Presence::kAlways,
    .normalized_routing = false,
    .selection_bias = true,
    .grouped_experts = true,
    .default_scores = 2,
    .shared_expert = true,
    .averaged_shared_expert = true,
};

}  // namespace rc::model
