// RWKV 7: a delta rule whose state fades by the column. Peng et al. 2025,
// arXiv:2503.14456.
#include "model/architectures/list.h"

namespace rc::model {

constexpr Architecture kRwkv7 = {
    .name = "rwkv7",
    .embedding = {.norm = true},
    .norm = {.kind = Norm::kLayer},
    .recurrence = {.mixer = Mixer::kTimeMix7, .only = true},
};

}  // namespace rc::model
