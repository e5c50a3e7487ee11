// Latent attention in folders: one matrix makes the keys and the values of all
// heads, which files have apart.
#pragma once

#include "files/folder/rules.h"

namespace rc::folder {

// The keys' rows of each head become columns.
TensorView latent_keys(const Config& config, const safetensors::Place& source);
TensorView latent_values(const Config& config,
                         const safetensors::Place& source);

inline constexpr Rule kLatentHeadRules[] = {
    {"model.layers.*.self_attn.q_proj.weight", "blk.*.attn_q.weight"},
    {"model.layers.*.self_attn.kv_b_proj.weight", "blk.*.attn_k_b.weight",
     latent_keys},
    {"model.layers.*.self_attn.kv_b_proj.weight", "blk.*.attn_v_b.weight",
     latent_values},
};

}  // namespace rc::folder
