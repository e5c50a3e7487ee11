// Nemotron-H: each layer is Mamba 2, attention without rotation, or a
// feed-forward part with the square of a rectifier. NVIDIA 2025,
// arXiv:2504.03624.
#include "model/architectures/list.h"

namespace rc::model {

constexpr Architecture kNemotronH = {
    .name = "nemotron_h",
    .recurrent = Mixer::kStateSpace,
    .single_parts = true,
    .unrotated = true,
    .gate = {.function = RC_FUNCTION_RELU,
             .ungated = true,
             .times_itself = true},
};

// With experts, of which some layers may have none.
constexpr Architecture kNemotronHMoe = {
    .name = "nemotron_h_moe",
    .recurrent = Mixer::kStateSpace,
    .single_parts = true,
    .unrotated = true,
    .gate = {.function = RC_FUNCTION_RELU,
             .ungated = true,
             .times_itself = true},
    .experts = Presence::kOptional,
    .selection_bias = true,
    .default_scores = 2,
    .latent_experts = true,
    .shared_expert = true,
};

}  // namespace rc::model
