// Granite 4.0-h and Bamba: layers of Mamba 2 with a few of attention between
// them, with or without experts. IBM 2025, https://huggingface.co/ibm-granite;
// Dao and Gu 2024, arXiv:2405.21060.
#include "model/architectures/list.h"

namespace rc::model {

constexpr Architecture kGraniteHybrid = {
    .name = "granitehybrid",
    .scale_keys = true,
    .rotary = {.style = RC_ROPE_ADJACENT, .optional = true},
    .attention = {.qkv_bias = Presence::kOptional,
                  .output_bias = Presence::kOptional},
    .recurrence = {.mixer = Mixer::kStateSpace},
    .experts = {.presence = Presence::kOptional, .shared = true},
};

}  // namespace rc::model
