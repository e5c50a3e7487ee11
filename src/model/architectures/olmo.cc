// OLMo: Llama with layer norms that have no weights, and limits of queries,
// keys and values in some sizes. Groeneveld et al. 2024, arXiv:2402.00838.
#include "model/architectures/list.h"

namespace rc::model {

constexpr Architecture kOlmo = {
    .name = "olmo",
    .norm = {.kind = Norm::kLayerPlain},
    .rotary = {.style = RC_ROPE_ADJACENT},
    .attention = {.clamps = true},
};

}  // namespace rc::model
