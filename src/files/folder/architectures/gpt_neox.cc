// GPT-NeoX and Pythia. Queries, keys and values are in turn for each head.
#include "files/folder/architectures/list.h"

namespace rc::folder {
namespace {

TensorView by_heads(const Config& config, const safetensors::Place& source) {
  const int64_t heads = config.get_int("num_attention_heads");
  return apart(source, heads, heads);
}

constexpr Rule kNeoXRules[] = {
    {"gpt_neox.embed_in.weight", "token_embd.weight"},
    {"gpt_neox.final_layer_norm.@", "output_norm.@"},
    {"embed_out.weight", "output.weight"},
    {"gpt_neox.layers.*.input_layernorm.@", "blk.*.attn_norm.@"},
    {"gpt_neox.layers.*.post_attention_layernorm.@", "blk.*.ffn_norm.@"},
    {"gpt_neox.layers.*.attention.query_key_value.@", "blk.*.attn_qkv.@",
     by_heads},
    {"gpt_neox.layers.*.attention.dense.@", "blk.*.attn_output.@"},
    {"gpt_neox.layers.*.mlp.dense_h_to_4h.@", "blk.*.ffn_up.@"},
    {"gpt_neox.layers.*.mlp.dense_4h_to_h.@", "blk.*.ffn_down.@"},
    // Masks of attention, and plain rotary frequencies, from old folders.
    {"gpt_neox.layers.*.attention.bias", ""},
    {"gpt_neox.layers.*.attention.masked_bias", ""},
    {"gpt_neox.layers.*.attention.rotary_emb.inv_freq", ""},
};

void describe_neox(Description& model) {
  const Config& config = model.config();
  add_activation(model, "hidden_act", {"gelu"});
  add_decoder_sizes(model, {.layer_norm = "layer_norm_eps"});
  // Newer folders have the usual names in addition to the former ones.
  add_rope(
      model,
      {.rope_base =
           config.has("rotary_emb_base") ? "rotary_emb_base" : "rope_theta",
       .rotated_part =
           config.has("rotary_pct") ? "rotary_pct" : "partial_rotary_factor"});
  model.add_flag("use_parallel_residual",
                 config.find_flag("use_parallel_residual").value_or(true));
}

}  // namespace

constexpr Architecture kGptNeoX = {
    .model_type = "gpt_neox",
    .name = "gptneox",
    .defaults = R"({"layer_norm_eps": 1e-5, "max_position_embeddings": 2048,
                    "partial_rotary_factor": 0.25,
                    "tie_word_embeddings": false})",
    .rules = {kNeoXRules},
    .describe = describe_neox,
};

}  // namespace rc::folder
