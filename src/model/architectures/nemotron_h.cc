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

}  // namespace rc::model
