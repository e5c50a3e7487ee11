// StarCoder: GPT-2 with one key/value head. Li et al. 2023, arXiv:2305.06161.
#include "model/architectures/list.h"

namespace rc::model {

constexpr Architecture kStarCoder = {
    .name = "starcoder",
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
