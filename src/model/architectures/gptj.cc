// GPT-J: attention and feed-forward read the same layer norm; a part of each
// head rotates. Wang and Komatsuzaki 2021, "GPT-J-6B".
#include "model/architectures/list.h"

namespace rc::model {

constexpr Architecture kGptJ = {
    .name = "gptj",
    .names = {.feed_forward_norm = "attn_norm.weight"},
    .norm = Norm::kLayer,
    .feed_forward_bias = Presence::kAlways,
    .output_bias = Presence::kAlways,
    .parallel_residual = Presence::kAlways,
    .rope_style = RC_ROPE_ADJACENT,
    .gate = {.function = RC_FUNCTION_GELU_TANH, .ungated = true},
    .names_activation = true,
};

}  // namespace rc::model
