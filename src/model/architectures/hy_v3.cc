// Hunyuan 3: norms of queries and keys, experts with sigmoids for scores that
// are chosen with a bias, and a shared one; layers without a router are dense.
// Tencent 2026, https://huggingface.co/tencent/Hy3.
#include "model/architectures/list.h"

namespace rc::model {

constexpr Architecture kHyV3 = {
    .name = "hy_v3",
    .names = {.selection_bias = "exp_probs_b"},
    .head_norm = HeadNorm::kEach,
    .experts = Presence::kAlways,
    .optional_routers = true,
    .selection_bias = true,
    .default_scores = 2,
    .shared_expert = true,
};

}  // namespace rc::model
