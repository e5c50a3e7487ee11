// Gemma 2. Riviere et al. 2024, arXiv:2408.00118.
//
// Its norms multiply by one plus the weight; files hold that sum.
#include "model/architectures/list.h"

namespace rc::model {

// The model of 46 layers (27B) scales by the width per head, the others by the
// size of a head; no metadata key says which.
constexpr Architecture kGemma2 = {
    .name = "gemma2",
    .names = {.output = "token_embd.weight"},
    .defaults = {.attention_softcap = 50.0f,
                 .final_softcap = 30.0f,
                 .sliding_window = 4096},
    .embedding = {.scaled = true},
    .norm = {.place = NormPlace::kAround},
    .position = {.window = {.period = 2, .windowed = 1}},
    .attention = {.scale =
                      [](const HyperParameters& hyper) {
                        return hyper.layer_count() == 46
                                   ? scale_of_width_per_head(hyper)
                                   : scale_of_key_size(hyper);
                      }},
    .feed_forward = {.gate = {.function = RC_FUNCTION_GELU_TANH}},
};

}  // namespace rc::model
