// Gemma 3, its text: Gemma 2 with norms on queries and keys instead of soft
// caps, and another rotary base where there is a window. Kamath et al. 2025,
// arXiv:2503.19786.
#include "model/architectures/list.h"

namespace rc::model {

// The model of 62 layers (27B) scales by the width per head, the others by the
// size of a head; no metadata key says which.
constexpr Architecture kGemma3 = {
    .name = "gemma3",
    .embedding = {.scaled = true},
    .norm = {.place = NormPlace::kAround},
    .position = {.window = {.period = 6, .windowed = 5}},
    .rotary = {.separate_for_windows = true, .window_base = 10000.0f},
    .attention = {.head_norm = HeadNorm::kEach,
                  .scale =
                      [](const HyperParameters& hyper) {
                        return hyper.layer_count() == 62
                                   ? scale_of_width_per_head(hyper)
                                   : scale_of_key_size(hyper);
                      }},
    .feed_forward = {.gate = {.function = RC_FUNCTION_GELU_TANH}},
};

}  // namespace rc::model
