// OPT: learned positions, a rectifier without a gate. No other converter writes
// such files. Zhang et al. 2022, arXiv:2205.01068.
#include "model/architectures/list.h"

namespace rc::model {

constexpr Architecture kOpt = {
    .name = "opt",
    .embedding = {.learned_positions = true},
    .norm = {.kind = Norm::kLayer},
    .attention = {.qkv_bias = Presence::kOptional,
                  .output_bias = Presence::kOptional},
    .feed_forward = {.gate = {.function = RC_FUNCTION_RELU, .ungated = true},
                     .bias = Presence::kOptional,
                     .names_activation = true},
};

}  // namespace rc::model
