// Latent attention in folders: one matrix makes the keys and the values of all
// heads, which files have apart.
#pragma once

#include "files/folder/rules.h"

namespace rc::folder {

// Heads in the matrix that makes keys and values, and sizes of a head.
struct LatentHead {
  int64_t heads, key, value, rank;
};
TensorView latent_keys(const LatentHead& head,
                       const safetensors::Place& source);
TensorView latent_values(const LatentHead& head,
                         const safetensors::Place& source);
// The same of models whose layers have equal heads. The keys' rows of each head
// become columns.
TensorView latent_keys(const Config& config, const safetensors::Place& source);
TensorView latent_values(const Config& config,
                         const safetensors::Place& source);

// Tensors of an indexer; see model::Architecture::indexed.
inline constexpr Rule kIndexerRules[] = {
    {"model.layers.*.self_attn.indexer.wq_b.weight",
     "blk.*.indexer.attn_q_b.weight"},
    {"model.layers.*.self_attn.indexer.wk.weight",
     "blk.*.indexer.attn_k.weight"},
    {"model.layers.*.self_attn.indexer.k_norm.@", "blk.*.indexer.k_norm.@"},
    {"model.layers.*.self_attn.indexer.weights_proj.weight",
     "blk.*.indexer.proj.weight"},
};

inline constexpr Rule kLatentHeadRules[] = {
    {"model.layers.*.self_attn.q_proj.weight", "blk.*.attn_q.weight"},
    {"model.layers.*.self_attn.kv_b_proj.weight", "blk.*.attn_k_b.weight",
     latent_keys},
    {"model.layers.*.self_attn.kv_b_proj.weight", "blk.*.attn_v_b.weight",
     latent_values},
};

}  // namespace rc::folder
