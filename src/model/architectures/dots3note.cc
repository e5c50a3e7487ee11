// dots3.note: latent attention with a gate for each head, in which layers with
// a window have other heads and the others an indexer; experts with sigmoids
// for scores are chosen with a bias. Dots Studio 2026,
// https://huggingface.co/dots-studio.
#include "model/architectures/list.h"

namespace rc::model {

constexpr Architecture kDots3Note = {
    .name = "dots3note",
    .rope_style = RC_ROPE_ADJACENT,
    .window = {.period = 4, .windowed = 3},
    .local_rope = true,
    .latent = true,
    .window_latent = true,
    .normed_latent_keys = true,
    .latent_epsilon = true,
    .indexed = true,
    .attention_gate = AttentionGate::kOfHeads,
    .experts = Presence::kAlways,
    .normalized_routing = false,
    .selection_bias = true,
    .default_scores = 2,
    .shared_expert = true,
};

}  // namespace rc::model
