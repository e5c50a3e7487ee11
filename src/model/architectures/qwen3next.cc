// Qwen3-Next: the gated delta rule, with every fourth layer attention that has
// a gate, and experts. Qwen 2025, https://qwen.ai; Yang, Kautz and Hatamizadeh
// 2024, arXiv:2412.06464.
#include "model/architectures/list.h"

namespace rc::model {

constexpr Architecture kQwen3Next = {
    .name = "qwen3next",
    .names = {.feed_forward_norm = "post_attention_norm.weight"},
    .attention = {.head_norm = HeadNorm::kEach,
                  .gate = AttentionGate::kWithQueries},
    .recurrence = {.mixer = Mixer::kDeltaRule, .attention_interval = true},
    .experts = {.presence = Presence::kAlways,
                .shared = true,
                .gated_shared = true},
};

}  // namespace rc::model
