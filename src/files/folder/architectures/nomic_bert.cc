// Nomic BERT. Folders from before transformers had it say sizes by other names.
#include "files/folder/architectures/list.h"

namespace rc::folder {
namespace {

constexpr Rule kNomicBertRules[] = {
    {"embeddings.word_embeddings.weight", "token_embd.weight"},
    {"embeddings.token_type_embeddings.weight", "token_types.weight"},
    {"emb_ln.@", "token_embd_norm.@"},
    {"encoder.layers.*.attn.Wqkv.weight", "blk.*.attn_qkv.weight"},
    {"encoder.layers.*.attn.out_proj.weight", "blk.*.attn_output.weight"},
    {"encoder.layers.*.norm1.@", "blk.*.attn_output_norm.@"},
    {"encoder.layers.*.mlp.fc11.weight", "blk.*.ffn_up.weight"},
    {"encoder.layers.*.mlp.fc12.weight", "blk.*.ffn_gate.weight"},
    {"encoder.layers.*.mlp.fc2.weight", "blk.*.ffn_down.weight"},
    {"encoder.layers.*.norm2.@", "blk.*.layer_output_norm.@"},
    // What comes after the rows of the last layer.
    {"pooler.dense.@", ""},
    {"cls.%", ""},
};

void describe_nomic_bert(Description& model) {
  const Config& config = model.config();
  expect_text(config, "hidden_act", {"silu"});
  expect_text(config, "activation_function", {"swiglu"});
  expect_flag(config, "prenorm", false);
  expect_flag(config, "qkv_proj_bias", false);
  expect_flag(config, "mlp_fc1_bias", false);
  expect_flag(config, "mlp_fc2_bias", false);
  expect_flag(config, "rotary_emb_interleaved", false);
  expect_number(config, "rotary_emb_fraction", 1.0);
  const auto size = [&](std::string_view key, std::string_view old) {
    const auto given = config.find_int(key);
    return given ? *given : config.get_int(config.has(old) ? old : key);
  };
  model.add_int("block_count", size("num_hidden_layers", "n_layer"));
  model.add_int("context_length",
                size("max_position_embeddings", "n_positions"));
  model.add_int("embedding_length", size("hidden_size", "n_embd"));
  model.add_int("feed_forward_length", size("intermediate_size", "n_inner"));
  model.add_int("attention.head_count", size("num_attention_heads", "n_head"));
  const auto epsilon = config.find_number("layer_norm_eps");
  model.add_number(
      "attention.layer_norm_epsilon",
      epsilon ? *epsilon
              : config.find_number("layer_norm_epsilon").value_or(1e-12));
  model.add_flag("attention.causal", false);
  double base = config.find_number("rotary_emb_base").value_or(1000.0);
  if (const auto rope = config.find_object("rope_parameters")) {
    expect_plain_rope(*rope);
    base = rope->find_number("rope_theta").value_or(base);
  }
  model.add_number("rope.freq_base", base);
}

}  // namespace

constexpr Architecture kNomicBert = {
    .model_type = "nomic_bert",
    .name = "nomic-bert",
    .renames = {{"nomic_bert.", ""}, {"bert.", ""}},
    .rules = {kNomicBertRules},
    .describe = describe_nomic_bert,
    .gives_hidden_rows = true,
};

}  // namespace rc::folder
