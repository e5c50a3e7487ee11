// K-EXAONE: only layers with a window rotate; experts with sigmoids for scores,
// chosen with a bias, and one that is always used. LG AI Research 2026,
// https://huggingface.co/LGAI-EXAONE.
#include "model/architectures/list.h"

namespace rc::model {

constexpr Architecture kExaoneMoe = {
    .name = "exaone-moe",
    .head_norm = HeadNorm::kEach,
    .rope_factors = Presence::kOptional,
    .window = {.period = 4, .windowed = 3},
    .only_windows_rotate = true,
    .experts = Presence::kAlways,
    .selection_bias = true,
    .default_scores = 2,
    .shared_expert = true,
};

}  // namespace rc::model
