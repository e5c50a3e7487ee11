// Command A+ and North: Command R7B with experts. Of layers that see all only
// the dense ones before those with experts rotate; norms may be root mean
// squares. Cohere 2026, https://huggingface.co/CohereLabs.
#include "model/architectures/list.h"

namespace rc::model {

constexpr Architecture kCohere2Moe = {
    .name = "cohere2moe",
    .names = {.feed_forward_norm = "attn_norm.weight", .selection_bias = ""},
    .scale_keys = true,
    .norm = {.kind = Norm::kLayerUnbiased, .kind_by_epsilon = true},
    .residual = {.parallel = Presence::kAlways},
    .position = {.window = {.period = 4, .windowed = 3}},
    .rotary = {.style = RC_ROPE_ADJACENT,
               .only_windows = true,
               .dense_layers = true},
    .experts = {.presence = Presence::kAlways,
                .default_score = 2,
                .selection_bias = true,
                .grouped = true,
                .normalized = false,
                .shared = true,
                .averaged_shared = true},
    .output = {.logit_scale = LogitScale::kMultiplies},
};

}  // namespace rc::model
