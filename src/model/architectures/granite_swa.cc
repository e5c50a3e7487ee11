// Granite with sinks, windows in some layers, and layers that do not rotate.
// IBM 2026, https://huggingface.co/ibm-granite.
#include "model/architectures/list.h"

namespace rc::model {

constexpr Architecture kGraniteSwa = {
    .name = "granite_swa",
    .scale_keys = true,
    .position = {.window = {.period = 4,
                            .windowed = 3,
                            .first_sees_all = true}},
    .rotary = {.style = RC_ROPE_ADJACENT,
               .factors = Presence::kOptional,
               .pattern = true},
    .attention = {.qkv_bias = Presence::kOptional,
                  .output_bias = Presence::kOptional,
                  .sinks = Presence::kAlways},
    .feed_forward = {.bias = Presence::kOptional},
    .experts = {.presence = Presence::kOptional, .shared = true},
};

}  // namespace rc::model
