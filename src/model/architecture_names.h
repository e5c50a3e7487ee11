// Names that the tensors of model families have.
#pragma once

namespace rc::model {

// Names of tensors. Those of a layer follow "blk.N.", or what `layer` says with
// its number; those of products are without ".weight" and ".bias".
struct TensorNames {
  const char* layer = "blk.";
  const char* token_embedding = "token_embd.weight";
  const char* position_embedding = "position_embd.weight";
  const char* token_types = "token_types.weight";
  const char* embedding_norm = "token_embd_norm.weight";
  const char* output_norm = "output_norm.weight";
  const char* output = "output.weight";
  const char* output_bias = "output.bias";
  const char* rope_factors = "rope_freqs.weight";
  const char* short_rope_factors = "rope_factors_short.weight";
  const char* long_rope_factors = "rope_factors_long.weight";

  const char* attention_norm = "attn_norm.weight";
  // The rows of queries, then of keys, then of values.
  const char* fused_attention = "attn_qkv";
  const char* query = "attn_q";
  const char* key = "attn_k";
  const char* value = "attn_v";
  const char* query_norm = "attn_q_norm.weight";
  const char* key_norm = "attn_k_norm.weight";
  // Of latent attention: what queries, and keys and values, are made from, and
  // what makes them of it. The rows of kv_down are those of the short vector,
  // then those of the part of the keys that rotates. Old files have kv_up, for
  // each head the rows of its keys and then those of its values, in place of
  // key_up, which is turned, and value_up.
  const char* query_down = "attn_q_a";
  const char* query_down_norm = "attn_q_a_norm.weight";
  const char* query_up = "attn_q_b";
  const char* kv_down = "attn_kv_a_mqa";
  const char* kv_down_norm = "attn_kv_a_norm.weight";
  const char* kv_up = "attn_kv_b";
  const char* key_up = "attn_k_b";
  const char* value_up = "attn_v_b";
  // Of the indexer, which is not computed.
  const char* index_query = "indexer.attn_q_b";
  const char* index_key = "indexer.attn_k";
  const char* index_key_norm = "indexer.k_norm.weight";
  const char* index_weights = "indexer.proj";
  const char* attention_output = "attn_output";
  const char* attention_inner_norm = "attn_sub_norm.weight";
  const char* attention_sinks = "attn_sinks.weight";
  const char* relative_bias = "attn_rel_b.weight";
  const char* post_attention_norm = "post_attention_norm.weight";

  // See source.h.
  const char* source_norm = "cross_attn_norm.weight";
  const char* source_query = "cross_attn_q";
  const char* source_key = "cross_attn_k";
  const char* source_value = "cross_attn_v";
  const char* source_output = "cross_attn_o";

  const char* feed_forward_norm = "ffn_norm.weight";
  const char* gate = "ffn_gate";
  const char* up = "ffn_up";
  const char* down = "ffn_down";
  const char* feed_forward_inner_norm = "ffn_sub_norm.weight";
  const char* post_feed_forward_norm = "post_ffw_norm.weight";

  const char* space_in = "ssm_in.weight";
  const char* space_conv = "ssm_conv1d";
  const char* space_step_bias = "ssm_dt.bias";
  const char* space_decay = "ssm_a";
  const char* space_skip = "ssm_d";
  const char* space_norm = "ssm_norm.weight";
  const char* space_out = "ssm_out";
  const char* space_parameters = "ssm_x.weight";
  const char* space_steps = "ssm_dt";
  const char* space_step_norm = "ssm_dt_norm.weight";
  const char* space_b_norm = "ssm_b_norm.weight";
  const char* space_c_norm = "ssm_c_norm.weight";

  const char* rule_rates = "ssm_beta.weight";
  const char* rule_steps = "ssm_alpha.weight";
  const char* rule_rates_and_steps = "ssm_ba.weight";
  const char* attention_gate = "attn_gate";
  const char* rule_query_conv = "ssm_conv1d_q";
  const char* rule_key_conv = "ssm_conv1d_k";
  const char* rule_value_conv = "ssm_conv1d_v";
  const char* rule_steps_down = "ssm_f_a";
  const char* rule_steps_up = "ssm_f_b";
  const char* rule_gate_down = "ssm_g_a";
  const char* rule_gate_up = "ssm_g_b";

  const char* conv_in = "shortconv.in_proj.weight";
  const char* conv = "shortconv.conv";
  const char* conv_out = "shortconv.out_proj";

  const char* second_norm = "attn_norm_2.weight";
  const char* mix_shares = "time_mix_lerp_fused.weight";
  const char* mix_first_share = "time_mix_lerp_x.weight";
  const char* mix_down = "time_mix_w1.weight";
  const char* mix_up = "time_mix_w2.weight";
  const char* mix_bonus = "time_mix_first.weight";
  const char* mix_decay = "time_mix_decay.weight";
  const char* mix_decay_down = "time_mix_decay_w1.weight";
  const char* mix_decay_up = "time_mix_decay_w2.weight";
  const char* mix_query = "time_mix_receptance";
  const char* mix_key = "time_mix_key";
  const char* mix_value = "time_mix_value";
  const char* mix_gate = "time_mix_gate";
  const char* mix_norm = "time_mix_ln.weight";
  const char* mix_output = "time_mix_output";
  const char* channel_key_share = "channel_mix_lerp_k.weight";
  const char* channel_gate_share = "channel_mix_lerp_r.weight";
  const char* channel_key = "channel_mix_key";
  const char* channel_value = "channel_mix_value";
  const char* channel_gate = "channel_mix_receptance";

  const char* router = "ffn_gate_inp";
  const char* expert_gate = "ffn_gate_exps";
  const char* expert_up = "ffn_up_exps";
  const char* expert_down = "ffn_down_exps";
  // In place of gate and up: the rows of the one, then of the other.
  const char* expert_gate_up = "ffn_gate_up_exps.weight";
  const char* selection_bias = "exp_probs_b.bias";
  const char* shared_router = "ffn_gate_inp_shexp.weight";
  const char* shared_gate = "ffn_gate_shexp";
  const char* shared_up = "ffn_up_shexp";
  const char* shared_down = "ffn_down_shexp";
  const char* expert_latent_down = "ffn_latent_down";
  const char* expert_latent_up = "ffn_latent_up";
  // Of layers that have experts and a dense part.
  const char* router_scale = "ffn_gate_inp.scale";
  const char* expert_norm = "pre_ffw_norm_2.weight";
  const char* post_dense_norm = "post_ffw_norm_1.weight";
  const char* post_expert_norm = "post_ffw_norm_2.weight";
  const char* expert_scales = "ffn_down_exps.scale";

  // See per_layer.h.
  const char* per_layer_embedding = "per_layer_token_embd.weight";
  const char* per_layer_projection = "per_layer_model_proj.weight";
  const char* per_layer_norm = "per_layer_proj_norm.weight";
  const char* per_layer_gate = "inp_gate";
  const char* per_layer_output = "proj";
  const char* post_per_layer_norm = "post_norm.weight";
  const char* layer_scale = "layer_output_scale.weight";

  // See alternating.h.
  const char* stream_projections = "altup_proj.weight";
  const char* stream_returns = "altup_unembd_proj.weight";
  const char* stream_router = "altup_router";
  const char* stream_router_norm = "altup_router_norm.weight";
  const char* stream_predictions = "altup_predict_coef.weight";
  const char* stream_corrections = "altup_correct_coef.weight";
  const char* stream_scale = "altup_correct_scale.weight";
  const char* low_rank_down = "laurel_l";
  const char* low_rank_up = "laurel_r";
  const char* low_rank_norm = "laurel_post_norm.weight";
};

}  // namespace rc::model
