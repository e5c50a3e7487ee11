// Nomic BERT with experts in every second layer, and without gates. Nussbaum
// and Duderstadt 2025, arXiv:2502.07972.
#include "model/architectures/list.h"

namespace rc::model {

constexpr Architecture kNomicBertMoe = {
    .name = "nomic-bert-moe",
    .names = {.post_attention_norm = "attn_output_norm.weight",
              .post_feed_forward_norm = "layer_output_norm.weight"},
    .embedding = {.token_types = Presence::kOptional, .norm = true},
    .norm = {.kind = Norm::kLayer, .place = NormPlace::kOfSums},
    .attention = {.causal = false,
                  .qkv_bias = Presence::kOptional,
                  .output_bias = Presence::kOptional,
                  .fused = Presence::kAlways},
    .feed_forward = {.gate = {.function = RC_FUNCTION_GELU, .ungated = true},
                     .bias = Presence::kOptional},
    .experts = {.presence = Presence::kOptional,
                .optional_routers = true,
                .normalized = false},
    .output = {.hidden_rows = true},
};

}  // namespace rc::model
