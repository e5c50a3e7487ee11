// Hunyuan 3: norms of queries and keys, experts with sigmoids for scores that
// are chosen with a bias, and a shared one; layers without a router are dense.
// Tencent 2026, https://huggingface.co/tencent/Hy3.
#include "model/architectures/list.h"

namespace rc::model {

constexpr Architecture kHyV3 = {
    .name = "hy_v3",
    .names = {.selection_bias = "exp_probs_b"},
    .attention = {.head_norm = HeadNorm::kEach},
    .experts = {.presence = Presence::kAlways,
                .optional_routers = true,
                .default_score = 2,
                .selection_bias = true,
                .shared = true},
};

}  // namespace rc::model
