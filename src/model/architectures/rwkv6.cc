// RWKV 6: a state for each head that fades by the column. Peng et al. 2024,
// arXiv:2404.05892.
#include "model/architectures/list.h"

namespace rc::model {

constexpr Architecture kRwkv6 = {
    .name = "rwkv6",
    .embedding = {.norm = true},
    .norm = {.kind = Norm::kLayer},
    .recurrence = {.mixer = Mixer::kTimeMix6, .only = true},
};

}  // namespace rc::model
