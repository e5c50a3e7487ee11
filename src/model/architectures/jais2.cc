// Jais 2: Llama with layer norms, biases, and the square of a rectifier in
// place of a gate. Inception 2025, https://huggingface.co/inceptionai.
#include "model/architectures/list.h"

namespace rc::model {

constexpr Architecture kJais2 = {
    .name = "jais2",
    .norm = Norm::kLayer,
    .qkv_bias = Presence::kOptional,
    .attention_output_bias = Presence::kOptional,
    .feed_forward_bias = Presence::kOptional,
    .gate = {.function = RC_FUNCTION_RELU,
             .ungated = true,
             .times_itself = true},
};

}  // namespace rc::model
