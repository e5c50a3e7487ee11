// StarCoder 2: layer norms and biases everywhere, rotary positions. Lozhkov et
// al. 2024, arXiv:2402.19173.
#include "model/architectures/list.h"

namespace rc::model {

constexpr Architecture kStarCoder2 = {
    .name = "starcoder2",
    .norm = {.kind = Norm::kLayer},
    .position = {.window = {.period = 1, .windowed = 1}},
    .attention = {.qkv_bias = Presence::kOptional,
                  .output_bias = Presence::kOptional},
    .feed_forward = {.gate = {.function = RC_FUNCTION_GELU_TANH,
                              .ungated = true},
                     .bias = Presence::kOptional,
                     .names_activation = true},
};

}  // namespace rc::model
