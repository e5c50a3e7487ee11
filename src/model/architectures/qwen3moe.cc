// Qwen 3 with experts in every layer. Yang et al. 2025, arXiv:2505.09388.
#include "model/architectures/list.h"

namespace rc::model {

constexpr Architecture kQwen3Moe = {
    .name = "qwen3moe",
    .attention = {.head_norm = HeadNorm::kEach},
    .experts = {.presence = Presence::kAlways},
};

}  // namespace rc::model
