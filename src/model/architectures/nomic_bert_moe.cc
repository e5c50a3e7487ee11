// Nomic BERT with experts in every second layer, and without gates. Nussbaum
// and Duderstadt 2025, arXiv:2502.07972.
#include "model/architectures/list.h"

namespace rc::model {

constexpr Architecture kNomicBertMoe = {
    .name = "nomic-bert-moe",
    .names = {.post_attention_norm = "attn_output_norm.weight",
              .post_feed_forward_norm = "layer_output_norm.weight"},
    .causal = false,
    .gives_hidden_rows = true,
    .norm = Norm::kLayer,
    .norm_place = NormPlace::kOfSums,
    .token_types = Presence::kOptional,
    .embedding_norm = true,
    .qkv_bias = Presence::kOptional,
    .attention_output_bias = Presence::kOptional,
    .feed_forward_bias = Presence::kOptional,
    .fused_attention = Presence::kAlways,
    .gate = {.function = RC_FUNCTION_GELU, .ungated = true},
    .experts = Presence::kOptional,
    .optional_routers = true,
    .normalized_routing = false,
};

}  // namespace rc::model
