// AFMoE: the Trinity models of Arcee AI.
#include "files/folder/architectures/list.h"
#include "files/folder/common_rules.h"

namespace rc::folder {
namespace {

constexpr Rule kAfmoeRules[] = {
    {"model.norm.weight", "output_norm.weight"},
    {"model.layers.*.input_layernorm.weight", "blk.*.attn_norm.weight"},
    {"model.layers.*.post_attention_layernorm.weight",
     "blk.*.post_attention_norm.weight"},
    {"model.layers.*.pre_mlp_layernorm.weight", "blk.*.ffn_norm.weight"},
    {"model.layers.*.post_mlp_layernorm.weight", "blk.*.post_ffw_norm.weight"},
    {"model.layers.*.self_attn.gate_proj.weight", "blk.*.attn_gate.weight"},
    {"model.layers.*.mlp.router.gate.weight", "blk.*.ffn_gate_inp.weight"},
    {"model.layers.*.mlp.expert_bias", "blk.*.exp_probs_b.bias"},
};

void describe_afmoe(Description& model) {
  const Config& config = model.config();
  expect_text(config, "hidden_act", {"silu"});
  expect_text(config, "score_func", {"sigmoid"});
  expect_flag(config, "attention_bias", false);
  expect_flag(config, "mup_enabled", true);
  expect_number(config, "n_group", 1);
  add_decoder(model);
  add_window(model);
  if (config.has("layer_types")) {
    add_window_layers(model);
  } else {
    model.add_int("attention.sliding_window_pattern",
                  config.get_int("global_attn_every_n_layers"));
  }
  add_experts(model);
  model.add_int("expert_shared_count", config.get_int("num_shared_experts"));
  model.add_int("leading_dense_block_count",
                config.get_int("num_dense_layers"));
  // GGUF's number of the sigmoid.
  model.add_int("expert_gating_func", 2);
  model.add_number("expert_weights_scale", config.get_number("route_scale"));
  model.add_flag("expert_weights_norm",
                 config.find_flag("route_norm").value_or(true));
}

}  // namespace

constexpr Architecture kAfmoe = {
    .model_type = "afmoe",
    .name = "afmoe",
    .defaults = R"({"rms_norm_eps": 1e-5, "max_position_embeddings": 16384,
                    "head_dim": 128, "num_dense_layers": 1, "num_experts": 64,
                    "num_experts_per_tok": 6, "num_shared_experts": 2,
                    "moe_intermediate_size": 1408, "route_scale": 1.0,
                    "global_attn_every_n_layers": 4, "sliding_window": 1024,
                    "mup_enabled": false, "tie_word_embeddings": false})",
    .rules = {kDecoderRules, kAttentionRules, kHeadNormRules, kAfmoeRules,
              kExpertRules, kSelectedExpertRules},
    .describe = describe_afmoe,
};

}  // namespace rc::folder
