// BLOOM. Queries, keys and values are in turn for each head.
#include "base/checked.h"
#include "files/folder/architectures/list.h"

namespace rc::folder {
namespace {

TensorView by_bloom_heads(const Config& config,
                          const safetensors::Place& source) {
  const int64_t heads = config.get_int("n_head");
  return apart(source, heads, heads);
}

constexpr Rule kBloomRules[] = {
    {"word_embeddings.weight", "token_embd.weight"},
    {"word_embeddings_layernorm.@", "token_embd_norm.@"},
    {"ln_f.@", "output_norm.@"},
    {"lm_head.weight", "output.weight"},
    {"h.*.input_layernorm.@", "blk.*.attn_norm.@"},
    {"h.*.post_attention_layernorm.@", "blk.*.ffn_norm.@"},
    {"h.*.self_attention.query_key_value.@", "blk.*.attn_qkv.@",
     by_bloom_heads},
    {"h.*.self_attention.dense.@", "blk.*.attn_output.@"},
    {"h.*.mlp.dense_h_to_4h.@", "blk.*.ffn_up.@"},
    {"h.*.mlp.dense_4h_to_h.@", "blk.*.ffn_down.@"},
};

void describe_bloom(Description& model) {
  const Config& config = model.config();
  expect_flag(config, "apply_residual_connection_post_layernorm", false);
  const int64_t width = config.find_int("n_embed").value_or(-1);
  const int64_t size = width > 0 ? width : config.get_int("hidden_size");
  model.add_int("block_count", config.get_int("n_layer"));
  model.add_int("context_length", config.find_int("seq_length").value_or(2048));
  model.add_int("embedding_length", size);
  model.add_int("feed_forward_length",
                checked_mul(size, int64_t{4}).value_or(-1));
  model.add_int("attention.head_count", config.get_int("n_head"));
  model.add_number("attention.layer_norm_epsilon",
                   config.get_number("layer_norm_epsilon"));
}

}  // namespace

constexpr Architecture kBloom = {
    .model_type = "bloom",
    .name = "bloom",
    .defaults = R"({"layer_norm_epsilon": 1e-5, "tie_word_embeddings": true})",
    .renames = {{"transformer.", ""}, {}},
    .rules = {kBloomRules},
    .describe = describe_bloom,
};

}  // namespace rc::folder
