// Orion: Llama with layer norms. Chen et al. 2024, arXiv:2401.12246.
#include "model/architectures/list.h"

namespace rc::model {

constexpr Architecture kOrion = {
    .name = "orion",
    .norm = {.kind = Norm::kLayer},
};

}  // namespace rc::model
