// Gemma 3n, its text: Gemma 3 without scales of attention, whose values are
// normed too, with a residual of several streams, inputs of each layer, a
// product of low rank beside attention, gates that are cut off and last layers
// that share keys and values. Description: the models' card and Hugging Face
// transformers.
#include "model/architectures/list.h"

namespace rc::model {

constexpr Architecture kGemma3n = {
    .name = "gemma3n",
    .defaults = {.final_softcap = 30.0f},
    .norm_place = NormPlace::kAround,
    .scaled_embedding = true,
    .head_norm = HeadNorm::kEach,
    .window = {.period = 5, .windowed = 4},
    .local_rope = true,
    .local_rope_base = 10000.0f,
    .attention_scale = scale_of_one,
    .shared_caches = true,
    .normed_values = true,
    .per_layer_inputs = Presence::kAlways,
    .alternating = true,
    .low_rank_residual = true,
    .sparse_gates = true,
    .gate = {.function = RC_FUNCTION_GELU_TANH},
};

}  // namespace rc::model
