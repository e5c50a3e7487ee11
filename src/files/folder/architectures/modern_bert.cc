// ModernBERT.
#include "files/folder/architectures/list.h"

namespace rc::folder {
namespace {

constexpr Rule kModernBertRules[] = {
    {"embeddings.tok_embeddings.weight", "token_embd.weight"},
    {"embeddings.norm.weight", "token_embd_norm.weight"},
    {"final_norm.weight", "output_norm.weight"},
    {"layers.*.attn_norm.weight", "blk.*.attn_norm.weight"},
    {"layers.*.attn.Wqkv.weight", "blk.*.attn_qkv.weight"},
    {"layers.*.attn.Wo.weight", "blk.*.attn_output.weight"},
    {"layers.*.mlp_norm.weight", "blk.*.ffn_norm.weight"},
    // The gate, then what it gates.
    {"layers.*.mlp.Wi.weight", "blk.*.ffn_up.weight"},
    {"layers.*.mlp.Wo.weight", "blk.*.ffn_down.weight"},
    // The head behind the last layer.
    {"head.%", ""},
    {"decoder.%", ""},
    {"classifier.%", ""},
};

// Newer folders have it for each kind of layers.
double rope_base(const Config& config, std::string_view kind,
                 std::string_view old, double otherwise) {
  const auto all = config.find_object("rope_parameters");
  const auto rope = all ? all->find_object(kind) : std::nullopt;
  if (!rope) return config.find_number(old).value_or(otherwise);
  expect_plain_rope(*rope);
  return rope->find_number("rope_theta").value_or(otherwise);
}

void describe_modern_bert(Description& model) {
  const Config& config = model.config();
  add_activation(model, "hidden_activation", {"gelu"});
  for (const char* key : {"norm_bias", "attention_bias", "mlp_bias"}) {
    expect_flag(config, key, false);
  }
  add_decoder_sizes(model, {.layer_norm = "norm_eps"});
  model.add_flag("attention.causal", false);
  model.add_number("rope.freq_base", rope_base(config, "full_attention",
                                               "global_rope_theta", 160000.0));
  model.add_number(
      "rope.freq_base_swa",
      rope_base(config, "sliding_attention", "local_rope_theta", 10000.0));
  // Of both sides together.
  model.add_int("attention.sliding_window", config.get_int("local_attention"));
  if (config.find("layer_types") != nullptr) return add_window_layers(model);
  model.add_int("attention.sliding_window_pattern",
                config.get_int("global_attn_every_n_layers"));
}

}  // namespace

constexpr Architecture kModernBert = {
    .model_type = "modernbert",
    .name = "modern-bert",
    .defaults = R"({"norm_eps": 1e-5, "max_position_embeddings": 8192,
                    "local_attention": 128, "global_attn_every_n_layers": 3})",
    .renames = {{"model.", ""}, {}},
    .rules = {kModernBertRules},
    .describe = describe_modern_bert,
    .gives_hidden_rows = true,
};

}  // namespace rc::folder
