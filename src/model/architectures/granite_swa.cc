// Granite with sinks, windows in some layers, and layers that do not rotate.
// IBM 2026, https://huggingface.co/ibm-granite.
#include "model/architectures/list.h"

namespace rc::model {

constexpr Architecture kGraniteSwa = {
    .name = "granite_swa",
    .qkv_bias = Presence::kOptional,
    .attention_output_bias = Presence::kOptional,
    .feed_forward_bias = Presence::kOptional,
    .attention_sinks = Presence::kAlways,
    .rope_style = RC_ROPE_ADJACENT,
    .rope_factors = Presence::kOptional,
    .window = {.period = 4, .windowed = 3, .first_sees_all = true},
    .rope_pattern = true,
    .scale_keys = true,
    .experts = Presence::kOptional,
    .shared_expert = true,
};

}  // namespace rc::model
