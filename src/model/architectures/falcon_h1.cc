// Falcon-H1: attention and Mamba 2 side by side in every layer; files have its
// factors in their weights. Zuo et al. 2025, arXiv:2507.22448.
#include "model/architectures/list.h"

namespace rc::model {

constexpr Architecture kFalconH1 = {
    .name = "falcon-h1",
    .names = {.feed_forward_norm = "ffn_norm"},
    .recurrence = {.mixer = Mixer::kBoth, .optional_norm = true},
};

}  // namespace rc::model
