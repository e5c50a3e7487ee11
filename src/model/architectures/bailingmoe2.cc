// Ling 2.0 and Sarvam: norms of each head of queries and keys, and experts with
// sigmoids for scores, chosen in groups with a bias, and one that is always
// used. Layers behind the last one guess further tokens and are not computed.
// Ling Team 2025, arXiv:2510.22115.
#include "model/architectures/list.h"

namespace rc::model {

constexpr Architecture kBailingMoe2 = {
    .name = "bailingmoe2",
    .attention = {.fused = Presence::kAlways, .head_norm = HeadNorm::kEach},
    .experts = {.presence = Presence::kAlways,
                .default_score = 2,
                .selection_bias = true,
                .grouped = true,
                .normalized = false,
                .shared = true},
};

}  // namespace rc::model
