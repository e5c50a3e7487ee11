// CodeShell: layer norms and biases everywhere, rotation, no gate. Xie et al.
// 2024, arXiv:2403.15747.
#include "model/architectures/list.h"

namespace rc::model {

constexpr Architecture kCodeShell = {
    .name = "codeshell",
    .norm = Norm::kLayer,
    .qkv_bias = Presence::kAlways,
    .attention_output_bias = Presence::kAlways,
    .feed_forward_bias = Presence::kAlways,
    .fused_attention = Presence::kAlways,
    .gate = {.function = RC_FUNCTION_GELU_TANH, .ungated = true},
    .names_activation = true,
};

}  // namespace rc::model
