// CodeShell: layer norms and biases everywhere, rotation, no gate. Xie et al.
// 2024, arXiv:2403.15747.
#include "model/architectures/list.h"

namespace rc::model {

constexpr Architecture kCodeShell = {
    .name = "codeshell",
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
