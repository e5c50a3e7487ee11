// OPT: learned positions, a rectifier without a gate. No other converter writes
// such files. Zhang et al. 2022, arXiv:2205.01068.
#include "model/architectures/list.h"

namespace rc::model {

constexpr Architecture kOpt = {
    .name = "opt",
    .norm = Norm::kLayer,
    .learned_positions = true,
    .qkv_bias = Presence::kOptional,
    .attention_output_bias = Presence::kOptional,
    .feed_forward_bias = Presence::kOptional,
    .gate = {.function = RC_FUNCTION_RELU, .ungated = true},
    .names_activation = true,
};

}  // namespace rc::model
