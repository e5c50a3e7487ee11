// Falcon. Queries, keys and values are in turn for each group of heads.
#include "base/checked.h"
#include "files/folder/architectures/list.h"

namespace rc::folder {
namespace {

// Key/value heads.
int64_t falcon_groups(const Config& config) {
  if (config.find_flag("new_decoder_architecture").value_or(false)) {
    return config.find_int("num_kv_heads")
        .value_or(config.get_int("num_attention_heads"));
  }
  return config.find_flag("multi_query").value_or(true)
             ? 1
             : config.get_int("num_attention_heads");
}

TensorView by_groups(const Config& config, const safetensors::Place& source) {
  return apart(source, config.get_int("num_attention_heads"),
               falcon_groups(config));
}

// Whether the feed-forward part reads what attention has added to.
bool in_sequence(const Config& config) {
  return !config.find_flag("new_decoder_architecture").value_or(false) &&
         !config.find_flag("parallel_attn").value_or(true);
}
bool beside_each_other(const Config& config) { return !in_sequence(config); }

constexpr Rule kFalconRules[] = {
    {"transformer.word_embeddings.weight", "token_embd.weight"},
    {"transformer.ln_f.@", "output_norm.@"},
    {"lm_head.weight", "output.weight"},
    {"transformer.h.*.input_layernorm.@", "blk.*.attn_norm.@", as_it_is,
     beside_each_other},
    {"transformer.h.*.input_layernorm.@", "blk.*.attn_norm_2.@", as_it_is,
     in_sequence},
    {"transformer.h.*.post_attention_layernorm.@", "blk.*.attn_norm.@"},
    {"transformer.h.*.ln_attn.@", "blk.*.attn_norm_2.@"},
    {"transformer.h.*.ln_mlp.@", "blk.*.attn_norm.@"},
    {"transformer.h.*.self_attention.query_key_value.@", "blk.*.attn_qkv.@",
     by_groups},
    {"transformer.h.*.self_attention.dense.@", "blk.*.attn_output.@"},
    {"transformer.h.*.mlp.dense_h_to_4h.@", "blk.*.ffn_up.@"},
    {"transformer.h.*.mlp.dense_4h_to_h.@", "blk.*.ffn_down.@"},
    // The plain rotary frequencies, from old folders.
    {"transformer.h.*.self_attention.rotary_emb.inv_freq", ""},
};

void describe_falcon(Description& model) {
  const Config& config = model.config();
  add_activation(model, "activation", {"gelu"});
  model.add_int("block_count", layer_count(config));
  model.add_int("context_length", config.get_int("max_position_embeddings"));
  const int64_t width = config.get_int("hidden_size");
  model.add_int("embedding_length", width);
  const auto inner = config.find_int("ffn_hidden_size");
  model.add_int("feed_forward_length",
                inner ? *inner : checked_mul(width, int64_t{4}).value_or(-1));
  model.add_int("attention.head_count", config.get_int("num_attention_heads"));
  model.add_int("attention.head_count_kv", falcon_groups(config));
  model.add_number("attention.layer_norm_epsilon",
                   config.get_number("layer_norm_epsilon"));
  if (in_sequence(config)) model.add_flag("use_parallel_residual", false);
  if (config.find_flag("alibi").value_or(false)) {
    model.add_number("attention.max_alibi_bias", 8.0);
  } else {
    add_rope(model);
  }
}

}  // namespace

constexpr Architecture kFalcon = {
    .model_type = "falcon",
    .name = "falcon",
    .defaults = R"({"layer_norm_epsilon": 1e-5, "max_position_embeddings": 2048,
                    "tie_word_embeddings": true})",
    .rules = {kFalconRules},
    .describe = describe_falcon,
};

}  // namespace rc::folder
