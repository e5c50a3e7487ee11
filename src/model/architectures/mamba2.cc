// Mamba 2: selective state spaces alone. Dao and Gu 2024, arXiv:2405.21060.
#include "model/architectures/list.h"

namespace rc::model {

constexpr Architecture kMamba2 = {
    .name = "mamba2",
    .recurrence = {.mixer = Mixer::kStateSpace, .only = true},
};

}  // namespace rc::model
