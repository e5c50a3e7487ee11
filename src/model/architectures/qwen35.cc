// Qwen3.5: as Qwen3-Next, with a dense feed-forward part; the heads of values
// are interleaved. Qwen 2026, https://qwen.ai.
#include "model/architectures/list.h"

namespace rc::model {

constexpr Architecture kQwen35 = {
    .name = "qwen35",
    .names = {.feed_forward_norm = "post_attention_norm.weight"},
    .attention = {.head_norm = HeadNorm::kEach,
                  .gate = AttentionGate::kWithQueries,
                  .interleaved_groups = true},
    .recurrence = {.mixer = Mixer::kDeltaRule, .attention_interval = true},
};

}  // namespace rc::model
