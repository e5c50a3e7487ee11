// GPT-NeoX and Pythia: attention and feed-forward read the same residual, each
// with a norm of its own, where the file says so. Black et al. 2022,
// arXiv:2204.06745.
#include "model/architectures/list.h"

namespace rc::model {

constexpr Architecture kGptNeoX = {
    .name = "gptneox",
    .norm = Norm::kLayer,
    .qkv_bias = Presence::kAlways,
    .attention_output_bias = Presence::kAlways,
    .feed_forward_bias = Presence::kAlways,
    .fused_attention = Presence::kAlways,
    .parallel_residual = Presence::kOptional,
    .gate = {.function = RC_FUNCTION_GELU, .ungated = true},
    .names_activation = true,
};

}  // namespace rc::model
