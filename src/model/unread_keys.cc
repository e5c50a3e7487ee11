#include "model/unread_keys.h"

#include <algorithm>

namespace rc::model {
namespace {

constexpr bool kChanges = true;
constexpr bool kNothing = false;

const std::vector<UnreadKey>& table() {
  static const std::vector<UnreadKey> keys = {
      // Keys that change nothing.
      {"attention.group_norm_epsilon", kNothing, "no groups are normed"},
      {"attention.group_norm_groups", kNothing, "no groups are normed"},
      {"attention.layer_norm_epsilon", kNothing, "the norms have another key"},
      {"attention.layer_norm_rms_epsilon", kNothing,
       "the norms have another key"},
      {"attention.temperature_length", kNothing,
       "of use with attention.temperature_scale alone"},
      {"classifier.output_labels", kNothing,
       "names of what a classifier tells apart"},
      {"decoder_block_count", kNothing, "there is no second stack of layers"},
      {"decoder_start_token_id", kNothing, "no answer follows a source"},
      {"deepstack_mapping", kNothing, "of pictures, of which a text has none"},
      {"n_deepstack_layers", kNothing, "of pictures, of which a text has none"},
      {"rope.dimension_sections", kNothing,
       "parts of a head for places in pictures; those of a text are one"},
      {"rope.scaling.finetuned", kNothing, "how the model came to its context"},
      {"tensor_data_layout", kNothing,
       "of the file that this one was converted from"},

      // Keys of attention.
      {"attention.causal", kChanges, "which rows a row sees"},
      {"attention.clamp_kqv", kChanges, "a limit of keys and values", {0}},
      {"attention.compress_ratios", kChanges, "compressed keys"},
      {"attention.compress_rope_freq_base", kChanges, "compressed keys"},
      {"attention.decay_lora_rank", kChanges, "products of low rank", {0}},
      {"attention.gate_lora_rank", kChanges, "products of low rank", {0}},
      {"attention.head_count_kv", kChanges, "heads", {0}},
      {"attention.iclr_lora_rank", kChanges, "products of low rank", {0}},
      {"attention.indexer.*", kChanges, "keys that are chosen"},
      {"attention.key_length", kChanges, "the size of heads", {0}},
      {"attention.key_length_mla", kChanges, "latent keys", {0}},
      {"attention.key_length_mla_swa", kChanges, "latent keys", {0}},
      {"attention.key_length_swa", kChanges, "heads of another size", {0}},
      {"attention.kv_lora_rank", kChanges, "latent keys", {0}},
      {"attention.kv_lora_rank_swa", kChanges, "latent keys", {0}},
      {"attention.max_alibi_bias", kChanges, "a bias by distance", {0}},
      {"attention.output_group_count", kChanges, "products in groups", {0}},
      {"attention.output_lora_rank", kChanges, "products of low rank", {0}},
      {"attention.output_scale", kChanges, "a scale", {0, 1}},
      {"attention.q_lora_rank", kChanges, "latent queries", {0}},
      {"attention.recurrent_layers", kChanges, "layers that do not attend"},
      {"attention.relative_buckets_count", kChanges, "a bias by distance", {0}},
      {"attention.rope_pattern", kChanges, "layers that do not rotate"},
      {"attention.scale", kChanges, "the scale of scores"},
      {"attention.shared_kv_layers", kChanges, "keys of earlier layers", {0}},
      {"attention.sliding_window_pattern", kChanges, "layers with a window"},
      {"attention.temperature_scale", kChanges, "a scale by position", {0}},
      {"attention.value_length", kChanges, "the size of heads", {0}},
      {"attention.value_length_mla", kChanges, "latent values", {0}},
      {"attention.value_length_mla_swa", kChanges, "latent values", {0}},
      {"attention.value_length_swa", kChanges, "heads of another size", {0}},
      {"attention.value_residual_mix_lora_rank",
       kChanges,
       "products of low rank",
       {0}},
      {"attention.value_scale", kChanges, "a scale of values", {0, 1}},
      {"attn_logit_softcapping", kChanges, "a limit of scores", {0}},
      {"rope.dimension_count", kChanges, "how much of a head rotates"},
      {"rope.dimension_count_swa", kChanges, "how much of a head rotates"},
      {"rope.freq_base", kChanges, "rotation"},
      {"rope.freq_base_swa", kChanges, "rotation of layers with a window"},
      {"rope.scale_linear", kChanges, "slower rotation", {0, 1}},
      {"rope.scaling.alpha", kChanges, "a larger base of rotation", {0, 1}},
      {"rope.scaling.attn_factor", kChanges, "a scale of rotated heads", {1}},
      {"rope.scaling.factor", kChanges, "slower rotation", {0, 1}},
      {"rope.scaling.original_context_length", kChanges, "slower rotation"},
      {"rope.scaling.type", kChanges, "slower rotation"},
      {"rope.scaling.yarn_attn_factor", kChanges, "a scale of rotated heads"},
      {"rope.scaling.yarn_beta_fast", kChanges, "slower rotation"},
      {"rope.scaling.yarn_beta_slow", kChanges, "slower rotation"},
      {"rope.scaling.yarn_ext_factor", kChanges, "slower rotation"},
      {"rope.scaling.yarn_log_multiplier", kChanges, "the scale of yarn", {0}},

      // Keys of experts, which change nothing where there are none.
      {"expert_chunk_feed_forward_length", kChanges, "more experts", {0}},
      {"expert_count", kChanges, "experts", {0}},
      {"expert_feed_forward_length", kChanges, "the size of experts", {0}},
      {"expert_gating_func", kChanges, "scores that are no softmax", {0, 1}},
      {"expert_group_count", kChanges, "groups of experts", {0, 1}},
      {"expert_group_scale", kChanges, "groups of experts", {0, 1}},
      {"expert_group_used_count", kChanges, "groups of experts", {0, 1}},
      {"expert_latent_length", kChanges, "experts of shorter rows", {0}},
      {"expert_shared_count", kChanges, "experts that are always used", {0}},
      {"expert_shared_feed_forward_length",
       kChanges,
       "experts that are always used",
       {0}},
      {"expert_used_count", kChanges, "experts", {0}},
      {"expert_weights_norm", kChanges, "shares of experts"},
      {"expert_weights_scale", kChanges, "a scale of experts", {0, 1}},
      {"experts_per_group", kChanges, "groups of experts", {0}},
      {"hash_layer_count", kChanges, "experts by token", {0}},
      {"interleave_moe_layer_step", kChanges, "dense layers", {0, 1}},
      {"leading_dense_block_count", kChanges, "dense layers", {0}},
      {"moe_every_n_layers", kChanges, "dense layers", {0}},
      {"moe_latent_size", kChanges, "experts of shorter rows", {0}},
      {"router_logit_softcapping", kChanges, "a limit of scores", {0}},
      {"swiglu_clamp_exp", kChanges, "a limit of gates", {0}},
      {"swiglu_clamp_shexp", kChanges, "a limit of gates", {0}},

      // Keys of layers of other kinds, and of what is around layers.
      {"activation.*", kChanges, "another function"},
      {"activation_sparsity_scale", kChanges, "gates that are cut off"},
      {"adapters.*", kChanges, "adapters within the model"},
      {"altup.*", kChanges, "several streams of the residual"},
      {"attn_res.*", kChanges, "attention to earlier layers"},
      {"block_size", kChanges, "a model that drafts for another"},
      {"classifier.pooling_type", kChanges, "which rows a classifier reads"},
      {"conv_group_size", kChanges, "convolutions"},
      {"conv_kernel_size", kChanges, "convolutions"},
      {"convnext.*", kChanges, "convolutions"},
      {"dense_*", kChanges, "products of a text's embedding"},
      {"embedding_length_out", kChanges, "rows of another width"},
      {"embedding_length_per_layer_input", kChanges, "inputs of layers", {0}},
      {"embedding_scale", kChanges, "a scale of embeddings", {0, 1}},
      {"features_length", kChanges, "a model of sounds"},
      {"feed_forward_length", kChanges, "feed-forward parts", {0}},
      {"final_logit_softcapping", kChanges, "a limit of logits", {0}},
      {"full_attention_interval",
       kChanges,
       "layers that do not attend",
       {0, 1}},
      {"has_confidence_head", kChanges, "a model that drafts for another", {0}},
      {"hidden_activation", kChanges, "another function"},
      {"hrm.*", kChanges, "layers that are computed again"},
      {"hyper_connection.*", kChanges, "several streams of the residual"},
      {"kda.*", kChanges, "layers with a state"},
      {"logit_scale", kChanges, "a scale of logits", {0, 1}},
      {"nextn_predict_layers",
       kChanges,
       "layers that guess further ahead",
       {0}},
      {"norm_before_fc", kChanges, "a model that drafts for another", {0}},
      {"norm_before_residual",
       kChanges,
       "a model that drafts for another",
       {0}},
      {"num_loops", kChanges, "layers that are computed again", {0, 1}},
      {"ple.*", kChanges, "inputs of layers"},
      {"posnet.*", kChanges, "a model of sounds"},
      {"rescale_every_n_layers", kChanges, "a residual that is halved", {0}},
      {"residual_scale", kChanges, "a scale of what layers add", {0, 1}},
      {"sample_from_anchor", kChanges, "a model that drafts for another", {0}},
      {"selector_rank", kChanges, "a model that drafts for another"},
      {"selector_top_k", kChanges, "a model that drafts for another"},
      {"shortconv.l_cache", kChanges, "convolutions"},
      {"skip_loop_final_norm", kChanges, "layers that are computed again", {0}},
      {"ssm.*", kChanges, "layers with a state"},
      {"swin_norm", kChanges, "other places of norms", {0}},
      {"target_hidden_size", kChanges, "a model that drafts for another"},
      {"target_layers", kChanges, "a model that drafts for another"},
      {"time_decay_extra_dim", kChanges, "layers with a state", {0}},
      {"time_mix_extra_dim", kChanges, "layers with a state", {0}},
      {"token_shift_count", kChanges, "layers with a state", {0, 2}},
      {"use_parallel_residual", kChanges, "where parts are added"},
      {"wkv.head_size", kChanges, "layers with a state"},
  };
  return keys;
}

}  // namespace

std::span<const UnreadKey> unread_keys() { return table(); }

const UnreadKey* find_unread_key(std::string_view name) {
  const auto found = std::ranges::find_if(table(), [&](const UnreadKey& key) {
    return key.name.ends_with('*')
               ? name.starts_with(key.name.substr(0, key.name.size() - 1))
               : name == key.name;
  });
  return found == table().end() ? nullptr : &*found;
}

}  // namespace rc::model
