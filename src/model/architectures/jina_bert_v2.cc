// Jina embeddings 2: BERT with linear biases of attention, to both sides, in
// place of positions, and a gate. Guenther et al. 2023, arXiv:2310.19923.
#include "model/architectures/list.h"

namespace rc::model {

constexpr Architecture kJinaBertV2 = {
    .name = "jina-bert-v2",
    .names = {.post_attention_norm = "attn_output_norm.weight",
              .post_feed_forward_norm = "layer_output_norm.weight"},
    .defaults = {.alibi = 8.0f},
    .embedding = {.token_types = Presence::kOptional, .norm = true},
    .norm = {.kind = Norm::kLayer, .place = NormPlace::kOfSums},
    .position = {.alibi = Presence::kAlways},
    .attention = {.causal = false,
                  .qkv_bias = Presence::kOptional,
                  .output_bias = Presence::kAlways},
    .feed_forward = {.gate = {.function = RC_FUNCTION_GELU,
                              .fused = true,
                              .fused_or_apart = true},
                     .bias = Presence::kOptional},
    .output = {.hidden_rows = true},
};

}  // namespace rc::model
