// BLOOM. Le Scao et al. 2022, arXiv:2211.05100.
#include "model/architectures/list.h"

namespace rc::model {

constexpr Architecture kBloom = {
    .name = "bloom",
    .defaults = {.alibi = 8.0f},
    .norm = Norm::kLayer,
    .alibi = Presence::kAlways,
    .embedding_norm = true,
    .qkv_bias = Presence::kAlways,
    .attention_output_bias = Presence::kAlways,
    .feed_forward_bias = Presence::kAlways,
    .fused_attention = Presence::kAlways,
    .gate = {.function = RC_FUNCTION_GELU_TANH, .ungated = true},
};

}  // namespace rc::model
