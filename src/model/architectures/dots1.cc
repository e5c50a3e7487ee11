// dots.llm1: experts with sigmoids for scores, chosen with a bias, and one that
// is always used. Huo et al. 2025, arXiv:2506.05767.
#include "model/architectures/list.h"

namespace rc::model {

constexpr Architecture kDots1 = {
    .name = "dots1",
    .attention = {.head_norm = HeadNorm::kEach},
    .experts = {.presence = Presence::kAlways,
                .default_score = 2,
                .selection_bias = true,
                .shared = true},
};

}  // namespace rc::model
