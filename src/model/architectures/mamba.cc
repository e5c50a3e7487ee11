// Mamba: selective state spaces alone. Gu and Dao 2023, arXiv:2312.00752.
#include "model/architectures/list.h"

namespace rc::model {

constexpr Architecture kMamba = {
    .name = "mamba",
    .recurrence = {.mixer = Mixer::kChannelSpace, .only = true},
};

}  // namespace rc::model
