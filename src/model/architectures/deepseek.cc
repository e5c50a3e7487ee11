// DeepSeekMoE: Llama with experts behind the first layers, of which some are
// always used. Dai et al. 2024, arXiv:2401.06066.
#include "model/architectures/list.h"

namespace rc::model {

constexpr Architecture kDeepSeek = {
    .name = "deepseek",
    .rotary = {.style = RC_ROPE_ADJACENT},
    .experts = {.presence = Presence::kAlways,
                .dense_first = true,
                .normalized = false,
                .shared = true},
};

}  // namespace rc::model
