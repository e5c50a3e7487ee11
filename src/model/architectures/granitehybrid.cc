// Granite 4.0-h and Bamba: layers of Mamba 2 with a few of attention between
// them, with or without experts. IBM 2025, https://huggingface.co/ibm-granite;
// Dao and Gu 2024, arXiv:2405.21060.
#include "model/architectures/list.h"

namespace rc::model {

constexpr Architecture kGraniteHybrid = {
    .name = "granitehybrid",
    .qkv_bias = Presence::kOptional,
    .attention_output_bias = Presence::kOptional,
    .rope_style = RC_ROPE_ADJACENT,
    .recurrent = Mixer::kStateSpace,
    .scale_keys = true,
    .optional_rope = true,
    .experts = Presence::kOptional,
    .shared_expert = true,
};

}  // namespace rc::model
