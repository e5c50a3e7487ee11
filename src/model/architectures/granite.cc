// Granite 3: Llama with extra factors for embeddings, attention, the output of
// a layer, and logits. IBM 2024, https://huggingface.co/ibm-granite.
#include "model/architectures/list.h"

namespace rc::model {

constexpr Architecture kGranite = {
    .name = "granite",
    .scale_keys = true,
    .rotary = {.style = RC_ROPE_ADJACENT},
    .attention = {.qkv_bias = Presence::kOptional,
                  .output_bias = Presence::kOptional},
    .feed_forward = {.bias = Presence::kOptional},
};

}  // namespace rc::model
