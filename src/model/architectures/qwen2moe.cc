// Qwen 1.5 and 2 with experts: one more expert is always used, scaled by a
// separate gate. Yang et al. 2024, arXiv:2407.10671.
#include "model/architectures/list.h"

namespace rc::model {

constexpr Architecture kQwen2Moe = {
    .name = "qwen2moe",
    .attention = {.qkv_bias = Presence::kAlways},
    .experts = {.presence = Presence::kAlways,
                .normalized = false,
                .shared = true,
                .gated_shared = true},
};

}  // namespace rc::model
