// Phi 1, 1.5 and 2: attention and feed-forward read the same layer norm; biases
// everywhere. Li et al. 2023, arXiv:2309.05463.
#include "model/architectures/list.h"

namespace rc::model {

constexpr Architecture kPhi2 = {
    .name = "phi2",
    .names = {.feed_forward_norm = "attn_norm.weight"},
    .norm = Norm::kLayer,
    .qkv_bias = Presence::kAlways,
    .attention_output_bias = Presence::kAlways,
    .feed_forward_bias = Presence::kAlways,
    .fused_attention = Presence::kOptional,
    .output_bias = Presence::kAlways,
    .parallel_residual = Presence::kAlways,
    .gate = {.function = RC_FUNCTION_GELU_TANH, .ungated = true},
    .names_activation = true,
};

}  // namespace rc::model
