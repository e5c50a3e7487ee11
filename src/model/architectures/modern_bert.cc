// ModernBERT: an encoder whose layers see a window to both sides; each third
// layer sees everything. Both kinds have separate rotary bases, and norms come
// before layers. Warner et al. 2024, arXiv:2412.13663.
#include "model/architectures/list.h"

namespace rc::model {

constexpr Architecture kModernBert = {
    .name = "modern-bert",
    .embedding = {.norm = true},
    .norm = {.kind = Norm::kLayerUnbiased, .first_layer_unnormed = true},
    .position = {.window = {.period = 3,
                            .windowed = 2,
                            .first_sees_all = true}},
    .rotary = {.separate_for_windows = true, .window_base = 10000.0f},
    .attention = {.causal = false, .fused = Presence::kAlways},
    .feed_forward = {.gate = {.function = RC_FUNCTION_GELU, .fused = true},
                     .names_activation = true},
    .output = {.hidden_rows = true, .normed_hidden_rows = true},
};

}  // namespace rc::model
