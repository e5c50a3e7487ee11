// DeepSeekMoE: Llama with experts behind the first layers, of which some are
// always used. Dai et al. 2024, arXiv:2401.06066.
#include "model/architectures/list.h"

namespace rc::model {

constexpr Architecture kDeepSeek = {
    .name = "deepseek",
    .rope_style = RC_ROPE_ADJACENT,
    .experts = Presence::kAlways,
    .normalized_routing = false,
    .dense_first = true,
    .shared_expert = true,
};

}  // namespace rc::model
