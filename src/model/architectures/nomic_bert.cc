// Nomic BERT: BERT with rotated queries and keys instead of learned positions,
// a gate, and no biases but those of norms. Nussbaum et al. 2024,
// arXiv:2402.01613.
#include "model/architectures/list.h"

namespace rc::model {

constexpr Architecture kNomicBert = {
    .name = "nomic-bert",
    .names = {.post_attention_norm = "attn_output_norm.weight",
              .post_feed_forward_norm = "layer_output_norm.weight"},
    .causal = false,
    .gives_hidden_rows = true,
    .norm = Norm::kLayer,
    .norm_place = NormPlace::kOfSums,
    .token_types = Presence::kOptional,
    .embedding_norm = true,
    .fused_attention = Presence::kAlways,
};

}  // namespace rc::model
