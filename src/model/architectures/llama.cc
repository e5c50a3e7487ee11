// Llama 2 and 3, Mistral, SmolLM; with expert_count Mixtral.
//
// Touvron et al. 2023, arXiv:2307.09288; Jiang et al. 2024, arXiv:2401.04088.
#include "model/architectures/list.h"

namespace rc::model {

// The converter of these models permutes the rows of queries and keys, so that
// pairs are adjacent.
constexpr Architecture kLlama = {
    .name = "llama",
    .position = {.window = {.period = 1, .windowed = 1}},
    .rotary = {.style = RC_ROPE_ADJACENT, .factors = Presence::kOptional},
    .attention = {.qkv_bias = Presence::kOptional,
                  .output_bias = Presence::kOptional},
    .feed_forward = {.bias = Presence::kOptional},
    .experts = {.presence = Presence::kOptional},
};

}  // namespace rc::model
