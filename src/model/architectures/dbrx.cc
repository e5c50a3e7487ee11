// DBRX: experts in every layer, layer norms without biases, limits of queries,
// keys and values. Databricks 2024, "Introducing DBRX".
#include "model/architectures/list.h"

namespace rc::model {

constexpr Architecture kDbrx = {
    .name = "dbrx",
    .names = {.feed_forward_norm = "attn_output_norm.weight"},
    .norm = Norm::kLayerUnbiased,
    .clamps = true,
    .fused_attention = Presence::kAlways,
    .experts = Presence::kAlways,
};

}  // namespace rc::model
