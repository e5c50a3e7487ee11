// Nemotron-H: each layer is Mamba 2, attention without rotation, or a
// feed-forward part with the square of a rectifier. NVIDIA 2025,
// arXiv:2504.03624.
#include "model/architectures/list.h"

namespace rc::model {

constexpr Architecture kNemotronH = {
    .name = "nemotron_h",
    .residual = {.single_parts = true},
    .rotary = {.never = true},
    .recurrence = {.mixer = Mixer::kStateSpace},
    .feed_forward = {.gate = {.function = RC_FUNCTION_RELU,
                              .ungated = true,
                              .times_itself = true}},
};

// With experts, of which some layers may have none.
constexpr Architecture kNemotronHMoe = {
    .name = "nemotron_h_moe",
    .residual = {.single_parts = true},
    .rotary = {.never = true},
    .recurrence = {.mixer = Mixer::kStateSpace},
    .feed_forward = {.gate = {.function = RC_FUNCTION_RELU,
                              .ungated = true,
                              .times_itself = true}},
    .experts = {.presence = Presence::kOptional,
                .latent = true,
                .default_score = 2,
                .selection_bias = true,
                .shared = true},
};

}  // namespace rc::model
