// Gemma 3n, its text: Gemma 3 without scales of attention, whose values are
// normed too, with a residual of several streams, inputs of each layer, a
// product of low rank next to attention, gates that are cut off and last layers
// that share keys and values. Description: the models' card and Hugging Face
// transformers.
#include "model/architectures/list.h"

namespace rc::model {

constexpr Architecture kGemma3n = {
    .name = "gemma3n",
    .defaults = {.final_softcap = 30.0f},
    .embedding = {.scaled = true},
    .norm = {.place = NormPlace::kAround},
    .residual = {.streams = true,
                 .low_rank = true,
                 .per_layer_inputs = Presence::kAlways},
    .position = {.window = {.period = 5, .windowed = 4}},
    .rotary = {.separate_for_windows = true, .window_base = 10000.0f},
    .attention = {.head_norm = HeadNorm::kEach,
                  .scale = scale_of_one,
                  .shared_caches = true,
                  .normed_values = true},
    .feed_forward = {.gate = {.function = RC_FUNCTION_GELU_TANH},
                     .sparse_gates = true},
};

}  // namespace rc::model
