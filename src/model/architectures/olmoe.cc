// OLMoE: experts in every layer, whose weights are not divided by their sum,
// and norms over all heads of queries and keys together. Muennighoff et al.
// 2024, arXiv:2409.02060.
#include "model/architectures/list.h"

namespace rc::model {

constexpr Architecture kOlmoe = {
    .name = "olmoe",
    .attention = {.head_norm = HeadNorm::kTogether},
    .experts = {.presence = Presence::kAlways, .normalized = false},
};

}  // namespace rc::model
