// GPT-NeoX and Pythia: attention and feed-forward read the same residual, each
// with a separate norm, where the file says so. Black et al. 2022,
// arXiv:2204.06745.
#include "model/architectures/list.h"

namespace rc::model {

constexpr Architecture kGptNeoX = {
    .name = "gptneox",
    .norm = {.kind = Norm::kLayer},
    .residual = {.parallel = Presence::kOptional},
    .attention = {.qkv_bias = Presence::kAlways,
                  .output_bias = Presence::kAlways,
                  .fused = Presence::kAlways},
    .feed_forward = {.gate = {.function = RC_FUNCTION_GELU, .ungated = true},
                     .bias = Presence::kAlways,
                     .names_activation = true},
};

}  // namespace rc::model
