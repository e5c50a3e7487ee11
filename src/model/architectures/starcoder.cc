// StarCoder: GPT-2 with one key/value head. Li et al. 2023, arXiv:2305.06161.
#include "model/architectures/list.h"

namespace rc::model {

constexpr Architecture kStarCoder = {
    .name = "starcoder",
    .norm = Norm::kLayer,
    .learned_positions = true,
    .qkv_bias = Presence::kAlways,
    .attention_output_bias = Presence::kAlways,
    .feed_forward_bias = Presence::kAlways,
    .fused_attention = Presence::kAlways,
    .gate = {.function = RC_FUNCTION_GELU_TANH, .ungated = true},
    .names_activation = true,
};

}  // namespace rc::model
