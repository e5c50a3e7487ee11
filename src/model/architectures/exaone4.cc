// EXAONE 4: norms behind attention and feed-forward; with windows, only layers
// that have one rotate. LG AI Research 2025, arXiv:2507.11407.
#include "model/architectures/list.h"

namespace rc::model {

constexpr Architecture kExaone4 = {
    .name = "exaone4",
    .norm = {.place = NormPlace::kBehind},
    .position = {.window = {.period = 4, .windowed = 3}},
    .rotary = {.factors = Presence::kOptional, .only_windows = true},
    .attention = {.head_norm = HeadNorm::kEach},
};

}  // namespace rc::model
