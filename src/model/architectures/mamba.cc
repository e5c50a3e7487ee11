// Mamba: selective state spaces alone. Gu and Dao 2023, arXiv:2312.00752.
#include "model/architectures/list.h"

namespace rc::model {

constexpr Architecture kMamba = {
    .name = "mamba",
    .recurrent = Mixer::kChannelSpace,
    .only_recurrent = true,
};

}  // namespace rc::model
