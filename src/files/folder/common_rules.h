// Rules that many architectures share.
#pragma once

#include "files/folder/rules.h"

namespace rc::folder {

// All of a decoder but queries, keys and norms, and tensors that are not
// needed.
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

// Latent attention: short vectors, and what makes queries of theirs.
inline constexpr Rule kLatentRules[] = {
    {"model.layers.*.self_attn.q_a_proj.weight", "blk.*.attn_q_a.weight"},
    {"model.layers.*.self_attn.q_a_layernorm.weight",
     "blk.*.attn_q_a_norm.weight"},
    {"model.layers.*.self_attn.q_b_proj.weight", "blk.*.attn_q_b.weight"},
    {"model.layers.*.self_attn.kv_a_proj_with_mqa.weight",
     "blk.*.attn_kv_a_mqa.weight"},
    {"model.layers.*.self_attn.kv_a_layernorm.weight",
     "blk.*.attn_kv_a_norm.weight"},
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

// Layer norms in the places of kNormRules.
inline constexpr Rule kLayerNormRules[] = {
    {"model.norm.@", "output_norm.@"},
    {"model.layers.*.input_layernorm.@", "blk.*.attn_norm.@"},
    {"model.layers.*.post_attention_layernorm.@", "blk.*.ffn_norm.@"},
};

// A norm behind attention, one behind the feed-forward part, and the last one.
inline constexpr Rule kNormBehindRules[] = {
    {"model.norm.weight", "output_norm.weight"},
    {"model.layers.*.post_attention_layernorm.weight",
     "blk.*.post_attention_norm.weight"},
    {"model.layers.*.post_feedforward_layernorm.weight",
     "blk.*.post_ffw_norm.weight"},
};

// Norms of queries and keys.
inline constexpr Rule kHeadNormRules[] = {
    {"model.layers.*.self_attn.q_norm.weight", "blk.*.attn_q_norm.weight"},
    {"model.layers.*.self_attn.k_norm.weight", "blk.*.attn_k_norm.weight"},
};

// Gate and up in one matrix, which stays one.
inline constexpr Rule kFusedGateRules[] = {
    {"model.layers.*.mlp.gate_up_proj.weight", "blk.*.ffn_up.weight"},
};

// Experts, a tensor for each.
inline constexpr Rule kExpertRules[] = {
    {"model.layers.*.mlp.gate.weight", "blk.*.ffn_gate_inp.weight"},
    {"model.layers.*.mlp.experts.*.gate_proj.weight",
     "blk.*.ffn_gate_exps.weight"},
    {"model.layers.*.mlp.experts.*.up_proj.weight", "blk.*.ffn_up_exps.weight"},
    {"model.layers.*.mlp.experts.*.down_proj.weight",
     "blk.*.ffn_down_exps.weight"},
};

// The biases with which they are chosen, and the experts that are always used.
inline constexpr Rule kSelectedExpertRules[] = {
    {"model.layers.*.mlp.gate.e_score_correction_bias",
     "blk.*.exp_probs_b.bias"},
    {"model.layers.*.mlp.moe_statics.e_score_correction_bias",
     "blk.*.exp_probs_b.bias", only_row},
    {"model.layers.*.mlp.shared_experts.gate_proj.weight",
     "blk.*.ffn_gate_shexp.weight"},
    {"model.layers.*.mlp.shared_experts.up_proj.weight",
     "blk.*.ffn_up_shexp.weight"},
    {"model.layers.*.mlp.shared_experts.down_proj.weight",
     "blk.*.ffn_down_shexp.weight"},
};

// An expert that counts as much as a sigmoid says.
inline constexpr Rule kGatedExpertRules[] = {
    {"model.layers.*.mlp.shared_expert.gate_proj.weight",
     "blk.*.ffn_gate_shexp.weight"},
    {"model.layers.*.mlp.shared_expert.up_proj.weight",
     "blk.*.ffn_up_shexp.weight"},
    {"model.layers.*.mlp.shared_expert.down_proj.weight",
     "blk.*.ffn_down_shexp.weight"},
    {"model.layers.*.mlp.shared_expert_gate.weight",
     "blk.*.ffn_gate_inp_shexp.weight", only_row},
};

}  // namespace rc::folder
