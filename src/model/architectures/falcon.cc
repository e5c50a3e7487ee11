// Falcon: attention and feed-forward read the same residual, with one norm for
// both or a norm for each. The first ones, RefinedWeb, have biases, attention
// before feed-forward, and linear biases of attention in place of rotation.
// Almazrouei et al. 2023, arXiv:2311.16867; Penedo et al. 2023,
// arXiv:2306.01116.
#include "model/architectures/list.h"

namespace rc::model {

constexpr Architecture kFalcon = {
    .name = "falcon",
    .names = {.attention_norm = "attn_norm_2.weight",
              .feed_forward_norm = "attn_norm.weight"},
    .norm = {.kind = Norm::kLayer},
    .residual = {.parallel = Presence::kOptional},
    .position = {.alibi = Presence::kOptional, .scaled_alibi = true},
    .attention = {.qkv_bias = Presence::kOptional,
                  .output_bias = Presence::kOptional,
                  .fused = Presence::kAlways},
    .feed_forward = {.gate = {.function = RC_FUNCTION_GELU, .ungated = true},
                     .bias = Presence::kOptional,
                     .names_activation = true},
};

}  // namespace rc::model
