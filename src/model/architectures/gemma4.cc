// Gemma 4, its text: Gemma 3 without scales of attention, whose values are
// normed too. The small ones have inputs of each layer and last layers that
// share keys and values, one of the large ones experts next to a dense part.
// Description: the models' card and Hugging Face transformers.
#include "model/architectures/list.h"

namespace rc::model {

constexpr Architecture kGemma4 = {
    .name = "gemma4",
    .embedding = {.scaled = true},
    .norm = {.place = NormPlace::kAround},
    .residual = {.per_layer_inputs = Presence::kOptional, .layer_scales = true},
    .position = {.window = {.period = 6, .windowed = 5}},
    .rotary = {.factors = Presence::kOptional,
               .separate_for_windows = true,
               .window_base = 10000.0f},
    .attention = {.head_norm = HeadNorm::kEach,
                  .scale = scale_of_one,
                  .separate_window_heads = true,
                  .shared_caches = true,
                  .keys_for_values = true,
                  .normed_values = true},
    .feed_forward = {.gate = {.function = RC_FUNCTION_GELU_TANH}},
    .experts = {.presence = Presence::kOptional, .beside_dense = true},
};

}  // namespace rc::model
