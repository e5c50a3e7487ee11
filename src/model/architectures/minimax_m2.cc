// MiniMax M2: norms over all heads of queries and keys together, a part of each
// head rotates, and experts with sigmoids for scores are chosen with a bias.
// MiniMax 2025, https://huggingface.co/MiniMaxAI/MiniMax-M2.
#include "model/architectures/list.h"

namespace rc::model {

constexpr Architecture kMiniMaxM2 = {
    .name = "minimax-m2",
    .head_norm = HeadNorm::kTogether,
    .experts = Presence::kAlways,
    .selection_bias = true,
    .all_experts = true,
    .default_scores = 2,
};

}  // namespace rc::model
