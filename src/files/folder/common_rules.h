// Rules that many architectures share.
#pragma once

#include "files/folder/rules.h"

namespace rc::folder {

// All of a decoder but queries, keys and norms, and what nobody needs.
inline constexpr Rule kDecoderRules[] = {
    {"model.embed_tokens.weight", "token_embd.weight"},
    {"lm_head.weight", "output.weight"},
    {"model.layers.*.self_attn.v_proj.@", "blk.*.attn_v.@"},
    {"model.layers.*.self_attn.o_proj.@", "blk.*.attn_output.@"},
    {"model.layers.*.mlp.gate_proj.@", "blk.*.ffn_gate.@"},
    {"model.layers.*.mlp.up_proj.@", "blk.*.ffn_up.@"},
    {"model.layers.*.mlp.down_proj.@", "blk.*.ffn_down.@"},
    // The plain rotary frequencies, from old folders.
    {"model.layers.*.self_attn.rotary_emb.inv_freq", ""},
    {"model.rotary_emb.inv_freq", ""},
};

// Queries and keys as they are.
inline constexpr Rule kAttentionRules[] = {
    {"model.layers.*.self_attn.q_proj.@", "blk.*.attn_q.@"},
    {"model.layers.*.self_attn.k_proj.@", "blk.*.attn_k.@"},
};

// Queries and keys whose rows are put into pairs.
inline constexpr Rule kPairedAttentionRules[] = {
    {"model.layers.*.self_attn.q_proj.@", "blk.*.attn_q.@", query_rows},
    {"model.layers.*.self_attn.k_proj.@", "blk.*.attn_k.@", key_rows},
};

// A norm before attention, one before the feed-forward part, and the last one.
inline constexpr Rule kNormRules[] = {
    {"model.norm.weight", "output_norm.weight"},
    {"model.layers.*.input_layernorm.weight", "blk.*.attn_norm.weight"},
    {"model.layers.*.post_attention_layernorm.weight", "blk.*.ffn_norm.weight"},
};

// The same under the names that those of some models have in GGUF.
inline constexpr Rule kPostAttentionNormRules[] = {
    {"model.norm.weight", "output_norm.weight"},
    {"model.layers.*.input_layernorm.weight", "blk.*.attn_norm.weight"},
    {"model.layers.*.post_attention_layernorm.weight",
     "blk.*.post_attention_norm.weight"},
};

}  // namespace rc::folder
