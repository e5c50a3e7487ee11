// Falcon: attention and feed-forward read the same residual, with one norm for
// both or a norm for each. Almazrouei et al. 2023, arXiv:2311.16867.
#include "model/architectures/list.h"

namespace rc::model {

constexpr Architecture kFalcon = {
    .name = "falcon",
    .names = {.attention_norm = "attn_norm_2.weight",
              .feed_forward_norm = "attn_norm.weight"},
    .norm = Norm::kLayer,
    .fused_attention = Presence::kAlways,
    .parallel_residual = Presence::kAlways,
    .gate = {.function = RC_FUNCTION_GELU, .ungated = true},
};

}  // namespace rc::model
