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
    .position = {.window = {.period = 4,
                            .windowed = 3,
                            .first_sees_all = true}},
    .rotary = {.separate_for_windows = true},
    .attention = {.head_norm = HeadNorm::kEach,
                  .gate = AttentionGate::kSoftplus,
                  .separate_window_heads = true},
    .experts = {.presence = Presence::kAlways,
                .default_score = 2,
                .selection_bias = true,
                .normalized = false,
                .shared = true},
};

}  // namespace rc::model
