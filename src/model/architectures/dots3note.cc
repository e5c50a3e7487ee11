// dots3.note: latent attention with a gate for each head, in which layers with
// a window have other heads and the others an indexer; experts with sigmoids
// for scores are chosen with a bias. Dots Studio 2026,
// https://huggingface.co/dots-studio.
#include "model/architectures/list.h"

namespace rc::model {

constexpr Architecture kDots3Note = {
    .name = "dots3note",
    .position = {.window = {.period = 4, .windowed = 3}},
    .rotary = {.style = RC_ROPE_ADJACENT, .separate_for_windows = true},
    .attention = {.gate = AttentionGate::kOfHeads},
    .latent = {.present = true,
               .separate_for_windows = true,
               .normed_keys = true,
               .model_epsilon = true,
               .indexed = true},
    .experts = {.presence = Presence::kAlways,
                .default_score = 2,
                .selection_bias = true,
                .normalized = false,
                .shared = true},
};

}  // namespace rc::model
