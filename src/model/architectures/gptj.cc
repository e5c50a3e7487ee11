// GPT-J: attention and feed-forward read the same layer norm; a part of each
// head rotates. Wang and Komatsuzaki 2021, "GPT-J-6B".
#include "model/architectures/list.h"

namespace rc::model {

constexpr Architecture kGptJ = {
    .name = "gptj",
    .names = {.feed_forward_norm = "attn_norm.weight"},
    .norm = {.kind = Norm::kLayer},
    .residual = {.parallel = Presence::kAlways},
    .rotary = {.style = RC_ROPE_ADJACENT},
    .feed_forward = {.gate = {.function = RC_FUNCTION_GELU_TANH,
                              .ungated = true},
                     .bias = Presence::kAlways,
                     .names_activation = true},
    .output = {.bias = Presence::kAlways},
};

}  // namespace rc::model
