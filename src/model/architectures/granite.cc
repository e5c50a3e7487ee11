// Granite 3: Llama with factors of its own for embeddings, attention, what a
// layer adds, and logits. IBM 2024, https://huggingface.co/ibm-granite.
#include "model/architectures/list.h"

namespace rc::model {

constexpr Architecture kGranite = {
    .name = "granite",
    .qkv_bias = Presence::kOptional,
    .attention_output_bias = Presence::kOptional,
    .feed_forward_bias = Presence::kOptional,
    .rope_style = RC_ROPE_ADJACENT,
    .scale_keys = true,
};

}  // namespace rc::model
