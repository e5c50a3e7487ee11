// DBRX: experts in every layer, layer norms without biases, limits of queries,
// keys and values. Databricks 2024, "Introducing DBRX".
#include "model/architectures/list.h"

namespace rc::model {

constexpr Architecture kDbrx = {
    .name = "dbrx",
    .names = {.feed_forward_norm = "attn_output_norm.weight"},
    .norm = {.kind = Norm::kLayerUnbiased},
    .attention = {.fused = Presence::kAlways, .clamps = true},
    .experts = {.presence = Presence::kAlways},
};

}  // namespace rc::model
