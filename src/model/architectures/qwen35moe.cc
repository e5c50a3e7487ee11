// Qwen3.5 with experts: as Qwen3-Next, with products of their own for gates;
// the heads of values are interleaved. Qwen 2026, https://qwen.ai.
#include "model/architectures/list.h"

namespace rc::model {

constexpr Architecture kQwen35Moe = {
    .name = "qwen35moe",
    .names = {.feed_forward_norm = "post_attention_norm.weight"},
    .head_norm = HeadNorm::kEach,
    .recurrent = Mixer::kDeltaRule,
    .attention_interval = true,
    .attention_gate = AttentionGate::kWithQueries,
    .interleaved_groups = true,
    .experts = Presence::kAlways,
    .shared_expert = true,
    .gated_shared_expert = true,
};

}  // namespace rc::model
