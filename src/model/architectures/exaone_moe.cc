// K-EXAONE: only layers with a window rotate; experts with sigmoids for scores,
// chosen with a bias, and one that is always used. LG AI Research 2026,
// https://huggingface.co/LGAI-EXAONE.
#include "model/architectures/list.h"

namespace rc::model {

constexpr Architecture kExaoneMoe = {
    .name = "exaone-moe",
    .position = {.window = {.period = 4, .windowed = 3}},
    .rotary = {.factors = Presence::kOptional, .only_windows = true},
    .attention = {.head_norm = HeadNorm::kEach},
    .experts = {.presence = Presence::kAlways,
                .default_score = 2,
                .selection_bias = true,
                .shared = true},
};

}  // namespace rc::model
