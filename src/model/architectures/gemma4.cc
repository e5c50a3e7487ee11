// Gemma 4, its text: Gemma 3 without scales of attention, whose values are
// normed too. The small ones have inputs of each layer and last layers that
// share keys and values, one of the large ones experts beside a dense part.
// Description: the models' card and Hugging Face transformers.
#include "model/architectures/list.h"

namespace rc::model {

constexpr Architecture kGemma4 = {
    .name = "gemma4",
    .norm_place = NormPlace::kAround,
    .scaled_embedding = true,
    .head_norm = HeadNorm::kEach,
    .rope_factors = Presence::kOptional,
    .window = {.period = 6, .windowed = 5},
    .local_rope = true,
    .local_rope_base = 10000.0f,
    .attention_scale = scale_of_one,
    .own_window_heads = true,
    .shared_caches = true,
    .normed_values = true,
    .keys_for_values = true,
    .per_layer_inputs = Presence::kOptional,
    .layer_scales = true,
    .gate = {.function = RC_FUNCTION_GELU_TANH},
    .experts = Presence::kOptional,
    .experts_beside_dense = true,
};

}  // namespace rc::model
