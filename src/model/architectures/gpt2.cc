// GPT-2. Radford et al. 2019, "Language Models are Unsupervised Multitask
// Learners".
#include "model/architectures/list.h"

namespace rc::model {

constexpr Architecture kGpt2 = {
    .name = "gpt2",
    .embedding = {.learned_positions = true},
    .norm = {.kind = Norm::kLayer},
    .attention = {.qkv_bias = Presence::kAlways,
                  .output_bias = Presence::kAlways,
                  .fused = Presence::kAlways},
    .feed_forward = {.gate = {.function = RC_FUNCTION_GELU_TANH,
                              .ungated = true},
                     .bias = Presence::kAlways,
                     .names_activation = true},
};

}  // namespace rc::model
