// Jina embeddings 2, which call themselves BERT.
#include "files/folder/architectures/list.h"

namespace rc::folder {
namespace {

bool has_linear_biases(const Config& config) {
  return config.find_text("position_embedding_type") == "alibi";
}

constexpr Rule kJinaRules[] = {
    {"embeddings.word_embeddings.weight", "token_embd.weight"},
    {"embeddings.token_type_embeddings.weight", "token_types.weight"},
    {"embeddings.LayerNorm.@", "token_embd_norm.@"},
    {"encoder.layer.*.attention.self.query.@", "blk.*.attn_q.@"},
    {"encoder.layer.*.attention.self.key.@", "blk.*.attn_k.@"},
    {"encoder.layer.*.attention.self.value.@", "blk.*.attn_v.@"},
    {"encoder.layer.*.attention.output.dense.@", "blk.*.attn_output.@"},
    {"encoder.layer.*.attention.output.LayerNorm.@",
     "blk.*.attn_output_norm.@"},
    {"encoder.layer.*.mlp.gated_layers.weight", "blk.*.ffn_up.weight"},
    {"encoder.layer.*.mlp.wo.@", "blk.*.ffn_down.@"},
    {"encoder.layer.*.mlp.layernorm.@", "blk.*.layer_output_norm.@"},
    // Numbers from 0 on; and what comes after the rows of the last layer, which
    // are what the model gives.
    {"embeddings.position_ids", ""},
    {"pooler.dense.@", ""},
    {"cls.%", ""},
};

void describe_jina_bert(Description& model) {
  const Config& config = model.config();
  expect_text(config, "hidden_act", {"gelu"});
  expect_text(config, "feed_forward_type", {"geglu"});
  expect_flag(config, "is_decoder", false);
  model.add_int("block_count", layer_count(config));
  model.add_int("context_length", config.get_int("max_position_embeddings"));
  model.add_int("embedding_length", config.get_int("hidden_size"));
  model.add_int("feed_forward_length", config.get_int("intermediate_size"));
  model.add_int("attention.head_count", config.get_int("num_attention_heads"));
  model.add_number("attention.layer_norm_epsilon",
                   config.get_number("layer_norm_eps"));
  model.add_flag("attention.causal", false);
}

}  // namespace

constexpr Architecture kJinaBert = {
    .model_type = "bert",
    .applies = has_linear_biases,
    .name = "jina-bert-v2",
    .defaults = R"({"layer_norm_eps": 1e-12, "max_position_embeddings": 512,
                    "feed_forward_type": "original"})",
    .renames = {{"bert.", ""}, {}},
    .rules = {kJinaRules},
    .describe = describe_jina_bert,
    .gives_hidden_rows = true,
};

}  // namespace rc::folder
