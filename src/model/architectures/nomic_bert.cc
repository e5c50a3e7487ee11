// Nomic BERT: BERT with rotated queries and keys instead of learned positions,
// a gate, and no biases but those of norms. Nussbaum et al. 2024,
// arXiv:2402.01613.
#include "model/architectures/list.h"

namespace rc::model {

constexpr Architecture kNomicBert = {
    .name = "nomic-bert",
    .names = {.post_attention_norm = "attn_output_norm.weight",
              .post_feed_forward_norm = "layer_output_norm.weight"},
    .embedding = {.token_types = Presence::kOptional, .norm = true},
    .norm = {.kind = Norm::kLayer, .place = NormPlace::kOfSums},
    .attention = {.causal = false, .fused = Presence::kAlways},
    .output = {.hidden_rows = true},
};

}  // namespace rc::model
