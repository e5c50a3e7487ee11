// Phi 3.5 MoE: Phi 3 with layer norms, biases and experts that are chosen one
// after another. Abdin et al. 2024, arXiv:2404.14219; Liu et al. 2024,
// arXiv:2409.12136.
#include "model/architectures/list.h"

namespace rc::model {

constexpr Architecture kPhiMoe = {
    .name = "phimoe",
    .norm = Norm::kLayer,
    .epsilon_of_squares = true,
    .qkv_bias = Presence::kOptional,
    .attention_output_bias = Presence::kOptional,
    .fused_attention = Presence::kOptional,
    .output_bias = Presence::kOptional,
    .long_rope = true,
    .window = {.period = 1, .windowed = 1},
    .experts = Presence::kAlways,
    .sparse_mix = true,
};

}  // namespace rc::model
