// Phi 3.5 MoE: Phi 3 with layer norms, biases and experts that are chosen one
// after another. Abdin et al. 2024, arXiv:2404.14219; Liu et al. 2024,
// arXiv:2409.12136.
#include "model/architectures/list.h"

namespace rc::model {

constexpr Architecture kPhiMoe = {
    .name = "phimoe",
    .norm = {.kind = Norm::kLayer, .epsilon_of_squares = true},
    .position = {.window = {.period = 1, .windowed = 1}},
    .rotary = {.long_factors = true},
    .attention = {.qkv_bias = Presence::kOptional,
                  .output_bias = Presence::kOptional,
                  .fused = Presence::kOptional},
    .experts = {.presence = Presence::kAlways, .sparse_mix = true},
    .output = {.bias = Presence::kOptional},
};

}  // namespace rc::model
