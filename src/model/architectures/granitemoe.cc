// Granite 3 with experts, and with one that is always used where a file has it.
// IBM 2024, https://huggingface.co/ibm-granite.
#include "model/architectures/list.h"

namespace rc::model {

constexpr Architecture kGraniteMoe = {
    .name = "granitemoe",
    .qkv_bias = Presence::kOptional,
    .attention_output_bias = Presence::kOptional,
    .rope_style = RC_ROPE_ADJACENT,
    .scale_keys = true,
    .experts = Presence::kAlways,
    .shared_expert = true,
};

}  // namespace rc::model
