// GLM 4.5 and Solar Open: experts with sigmoids for scores, chosen with a bias,
// and one that is always used. Its last layer guesses the token after the next
// and is not computed. Zeng et al. 2025, arXiv:2508.06471.
#include "model/architectures/list.h"

namespace rc::model {

constexpr Architecture kGlm4Moe = {
    .name = "glm4moe",
    .names = {.feed_forward_norm = "post_attention_norm.weight"},
    .attention = {.qkv_bias = Presence::kOptional,
                  .head_norm = HeadNorm::kEach,
                  .optional_head_norm = true},
    .experts = {.presence = Presence::kAlways,
                .default_score = 2,
                .selection_bias = true,
                .shared = true},
};

}  // namespace rc::model
