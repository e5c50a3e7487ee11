// Llama 4, its text: chunks of attention in the layers that rotate, a scale
// that grows with the position in the others, and one expert next to a shared
// one. Meta 2025, "The Llama 4 herd"; Nakanishi 2025, arXiv:2501.19399.
#include "model/architectures/list.h"

namespace rc::model {

// No metadata key says what chunks are, or which model has norms: Scout, of 16
// experts, has them, and Maverick, of 128, does not.
constexpr Architecture kLlama4 = {
    .name = "llama4",
    .defaults = {.sliding_window = 8192,
                 .temperature = 0.1f,
                 .temperature_length = 8192,
                 .shared_experts = 1},
    .position = {.window = {.period = 4, .windowed = 3},
                 .chunked_windows = true,
                 .temperature = true},
    .rotary = {.style = RC_ROPE_ADJACENT,
               .factors = Presence::kOptional,
               .unrotated_every = 4},
    .attention = {.head_norm = HeadNorm::kUnweighted,
                  .without_head_norm =
                      [](int64_t experts) { return experts == 128; }},
    .experts = {.presence = Presence::kAlways,
                .weighted_inputs = true,
                .shared = true},
};

}  // namespace rc::model
