// MiniCPM 1, 2 and 4: Llama with extra factors for embeddings, the output of a
// layer, and logits. Files older than the keys for these factors use the
// factors of the first models. Hu et al. 2024, arXiv:2404.06395.
#include "model/architectures/list.h"

namespace rc::model {

constexpr Architecture kMiniCpm = {
    .name = "minicpm",
    .defaults = {.embedding_scale = 12.0f,
                 .residual_depth = 1.4f,
                 .logit_width = 256},
    .scale_keys = true,
    .rotary = {.style = RC_ROPE_ADJACENT, .long_factors = true},
};

}  // namespace rc::model
