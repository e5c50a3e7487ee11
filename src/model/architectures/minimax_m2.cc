// MiniMax M2: norms over all heads of queries and keys together, a part of each
// head rotates, and experts with sigmoids for scores are chosen with a bias.
// MiniMax 2025, https://huggingface.co/MiniMaxAI/MiniMax-M2.
#include "model/architectures/list.h"

namespace rc::model {

constexpr Architecture kMiniMaxM2 = {
    .name = "minimax-m2",
    .attention = {.head_norm = HeadNorm::kTogether},
    .experts = {.presence = Presence::kAlways,
                .all_layers = true,
                .default_score = 2,
                .selection_bias = true},
};

}  // namespace rc::model
