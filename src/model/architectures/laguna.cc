// Laguna: attention whose heads, or their elements, are multiplied by the
// softplus of a gate; layers with a window may have more heads and rotate with
// another base, and more of each head; experts with sigmoids for scores are
// chosen with a bias, and one is shared. Poolside 2026,
// https://huggingface.co/poolside.
#include "model/architectures/list.h"

namespace rc::model {

constexpr Architecture kLaguna = {
    .name = "laguna",
    .defaults = {.shared_experts = 1},
    .head_norm = HeadNorm::kEach,
    .window = {.period = 4, .windowed = 3, .first_sees_all = true},
    .local_rope = true,
    .own_window_heads = true,
    .attention_gate = AttentionGate::kSoftplus,
    .experts = Presence::kAlways,
    .normalized_routing = false,
    .selection_bias = true,
    .default_scores = 2,
    .shared_expert = true,
};

}  // namespace rc::model
