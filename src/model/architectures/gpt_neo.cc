// GPT-Neo: GPT-2 with a window in every second layer and scores that are not
// scaled. No other converter writes such files. Black et al. 2021, "GPT-Neo",
// https://doi.org/10.5281/zenodo.5297715.
#include "model/architectures/list.h"

namespace rc::model {

constexpr Architecture kGptNeo = {
    .name = "gptneo",
    .embedding = {.learned_positions = true},
    .norm = {.kind = Norm::kLayer},
    .position = {.window = {.period = 2,
                            .windowed = 1,
                            .first_sees_all = true}},
    .attention = {.output_bias = Presence::kAlways, .scale = scale_of_one},
    .feed_forward = {.gate = {.function = RC_FUNCTION_GELU_TANH,
                              .ungated = true},
                     .bias = Presence::kAlways,
                     .names_activation = true},
};

}  // namespace rc::model
