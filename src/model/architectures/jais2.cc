// Jais 2: Llama with layer norms, biases, and the square of a rectifier in
// place of a gate. Inception 2025, https://huggingface.co/inceptionai.
#include "model/architectures/list.h"

namespace rc::model {

constexpr Architecture kJais2 = {
    .name = "jais2",
    .norm = {.kind = Norm::kLayer},
    .attention = {.qkv_bias = Presence::kOptional,
                  .output_bias = Presence::kOptional},
    .feed_forward = {.gate = {.function = RC_FUNCTION_RELU,
                              .ungated = true,
                              .times_itself = true},
                     .bias = Presence::kOptional},
};

}  // namespace rc::model
