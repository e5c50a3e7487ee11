// GPT-2. Radford et al. 2019, "Language Models are Unsupervised Multitask
// Learners".
#include "model/architectures/list.h"

namespace rc::model {

constexpr Architecture kGpt2 = {
    .name = "gpt2",
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
