// ModernBERT: an encoder whose layers see a window to both sides, but each
// third one all, with rotary bases of their own and norms before them. Warner
// et al. 2024, arXiv:2412.13663.
#include "model/architectures/list.h"

namespace rc::model {

constexpr Architecture kModernBert = {
    .name = "modern-bert",
    .causal = false,
    .gives_hidden_rows = true,
    .normed_hidden_rows = true,
    .norm = Norm::kLayerUnbiased,
    .embedding_norm = true,
    .first_unnormed = true,
    .fused_attention = Presence::kAlways,
    .window = {.period = 3, .windowed = 2, .first_sees_all = true},
    .local_rope = true,
    .local_rope_base = 10000.0f,
    .gate = {.function = RC_FUNCTION_GELU, .fused = true},
    .names_activation = true,
};

}  // namespace rc::model
