// BLOOM. Le Scao et al. 2022, arXiv:2211.05100.
#include "model/architectures/list.h"

namespace rc::model {

constexpr Architecture kBloom = {
    .name = "bloom",
    .defaults = {.alibi = 8.0f},
    .embedding = {.norm = true},
    .norm = {.kind = Norm::kLayer},
    .position = {.alibi = Presence::kAlways},
    .attention = {.qkv_bias = Presence::kAlways,
                  .output_bias = Presence::kAlways,
                  .fused = Presence::kAlways},
    .feed_forward = {.gate = {.function = RC_FUNCTION_GELU_TANH,
                              .ungated = true},
                     .bias = Presence::kAlways},
};

}  // namespace rc::model
