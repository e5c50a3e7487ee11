// Qwen 3, dense and with experts in every layer.
#include "files/folder/architectures/list.h"
#include "files/folder/common_rules.h"

namespace rc::folder {
namespace {

constexpr Rule kQwen3Rules[] = {
    {"model.layers.*.self_attn.q_norm.weight", "blk.*.attn_q_norm.weight"},
    {"model.layers.*.self_attn.k_norm.weight", "blk.*.attn_k_norm.weight"},
    {"model.layers.*.mlp.gate.weight", "blk.*.ffn_gate_inp.weight"},
    {"model.layers.*.mlp.experts.*.gate_proj.weight",
     "blk.*.ffn_gate_exps.weight"},
    {"model.layers.*.mlp.experts.*.up_proj.weight", "blk.*.ffn_up_exps.weight"},
    {"model.layers.*.mlp.experts.*.down_proj.weight",
     "blk.*.ffn_down_exps.weight"},
};

void describe_qwen3(Description& model) {
  expect_text(model.config(), "hidden_act", {"silu"});
  expect_no_window(model.config());
  add_decoder(model);
}

void describe_qwen3_moe(Description& model) {
  describe_qwen3(model);
  const Config& config = model.config();
  // Experts in all layers, weighted by their share of those chosen.
  expect_number(config, "decoder_sparse_step", 1);
  const auto dense = config.find_ints("mlp_only_layers");
  if (dense && !dense->empty()) {
    config.refuse(RC_E_UNSUPPORTED, "mlp_only_layers",
                  " is not empty; all layers are computed with experts");
  }
  expect_flag(config, "norm_topk_prob", true);
  model.add_int("expert_count", config.get_int("num_experts"));
  model.add_int("expert_used_count", config.get_int("num_experts_per_tok"));
  model.add_int("expert_feed_forward_length",
                config.get_int("moe_intermediate_size"));
}

}  // namespace

constexpr Architecture kQwen3 = {
    .model_type = "qwen3",
    .name = "qwen3",
    .defaults = R"({"num_key_value_heads": 32, "rms_norm_eps": 1e-6,
                    "head_dim": 128, "max_position_embeddings": 32768,
                    "max_window_layers": 28, "tie_word_embeddings": false})",
    .rules = {kDecoderRules, kAttentionRules, kNormRules, kQwen3Rules},
    .describe = describe_qwen3,
};

constexpr Architecture kQwen3Moe = {
    .model_type = "qwen3_moe",
    .name = "qwen3moe",
    .defaults = R"({"num_key_value_heads": 4, "rms_norm_eps": 1e-6,
                    "max_position_embeddings": 32768, "num_experts": 128,
                    "num_experts_per_tok": 8, "moe_intermediate_size": 768,
                    "decoder_sparse_step": 1, "norm_topk_prob": false,
                    "tie_word_embeddings": false})",
    .rules = {kDecoderRules, kAttentionRules, kNormRules, kQwen3Rules},
    .describe = describe_qwen3_moe,
};

}  // namespace rc::folder
