// Granite 3 with experts, and with one that is always used where a file has it.
// IBM 2024, https://huggingface.co/ibm-granite.
#include "model/architectures/list.h"

namespace rc::model {

constexpr Architecture kGraniteMoe = {
    .name = "granitemoe",
    .scale_keys = true,
    .rotary = {.style = RC_ROPE_ADJACENT},
    .attention = {.qkv_bias = Presence::kOptional,
                  .output_bias = Presence::kOptional},
    .experts = {.presence = Presence::kAlways, .shared = true},
};

}  // namespace rc::model
