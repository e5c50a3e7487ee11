// Qwen3-Next: the gated delta rule, with every fourth layer attention that has
// a gate, and experts. Qwen 2025, https://qwen.ai; Yang, Kautz and Hatamizadeh
// 2024, arXiv:2412.06464.
#include "model/architectures/list.h"

namespace rc::model {

constexpr Architecture kQwen3Next = {
    .name = "qwen3next",
    .names = {.feed_forward_norm = "post_attention_norm.weight"},
    .head_norm = HeadNorm::kEach,
    .recurrent = Mixer::kDeltaRule,
    .attention_interval = true,
    .attention_gate = AttentionGate::kWithQueries,
    .experts = Presence::kAlways,
    .shared_expert = true,
    .gated_shared_expert = true,
};

}  // namespace rc::model
