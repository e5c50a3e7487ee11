// EXAONE 4: norms behind attention and feed-forward; with windows, only layers
// that have one rotate. LG AI Research 2025, arXiv:2507.11407.
#include "model/architectures/list.h"

namespace rc::model {

constexpr Architecture kExaone4 = {
    .name = "exaone4",
    .norm_place = NormPlace::kBehind,
    .head_norm = HeadNorm::kEach,
    .rope_factors = Presence::kOptional,
    .window = {.period = 4, .windowed = 3},
    .only_windows_rotate = true,
};

}  // namespace rc::model
