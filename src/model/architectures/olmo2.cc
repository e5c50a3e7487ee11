// OLMo 2 and 3: norms behind attention and feed-forward, and over all heads of
// queries and keys together. OLMo 3 has windows; the layers that have one
// rotate without scaling. OLMo et al. 2024, arXiv:2501.00656.
#include "model/architectures/list.h"

namespace rc::model {

constexpr Architecture kOlmo2 = {
    .name = "olmo2",
    .norm = {.place = NormPlace::kBehind},
    .position = {.window = {.period = 4, .windowed = 3}},
    .rotary = {.separate_for_windows = true},
    .attention = {.head_norm = HeadNorm::kTogether},
};

}  // namespace rc::model
