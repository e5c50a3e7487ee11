// Qwen3.5 with experts: as Qwen3-Next, with separate products for gates; the
// heads of values are interleaved. Qwen 2026, https://qwen.ai.
#include "model/architectures/list.h"

namespace rc::model {

constexpr Architecture kQwen35Moe = {
    .name = "qwen35moe",
    .names = {.feed_forward_norm = "post_attention_norm.weight"},
    .attention = {.head_norm = HeadNorm::kEach,
                  .gate = AttentionGate::kWithQueries,
                  .interleaved_groups = true},
    .recurrence = {.mixer = Mixer::kDeltaRule, .attention_interval = true},
    .experts = {.presence = Presence::kAlways,
                .shared = true,
                .gated_shared = true},
};

}  // namespace rc::model
