// Phi 1, 1.5 and 2: attention and feed-forward read the same layer norm; biases
// everywhere. Li et al. 2023, arXiv:2309.05463.
#include "model/architectures/list.h"

namespace rc::model {

constexpr Architecture kPhi2 = {
    .name = "phi2",
    .names = {.feed_forward_norm = "attn_norm.weight"},
    .norm = {.kind = Norm::kLayer},
    .residual = {.parallel = Presence::kAlways},
    .attention = {.qkv_bias = Presence::kAlways,
                  .output_bias = Presence::kAlways,
                  .fused = Presence::kOptional},
    .feed_forward = {.gate = {.function = RC_FUNCTION_GELU_TANH,
                              .ungated = true},
                     .bias = Presence::kAlways,
                     .names_activation = true},
    .output = {.bias = Presence::kAlways},
};

}  // namespace rc::model
