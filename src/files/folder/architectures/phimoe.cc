// Phi 3.5 MoE. Experts are chosen with a margin of twice router_jitter_noise.
#include "files/folder/architectures/list.h"
#include "files/folder/common_rules.h"

namespace rc::folder {
namespace {

constexpr Rule kPhiMoeRules[] = {
    {"lm_head.bias", "output.bias"},
    {"model.layers.*.block_sparse_moe.gate.weight",
     "blk.*.ffn_gate_inp.weight"},
    {"model.layers.*.block_sparse_moe.experts.*.w1.weight",
     "blk.*.ffn_gate_exps.weight"},
    {"model.layers.*.block_sparse_moe.experts.*.w2.weight",
     "blk.*.ffn_down_exps.weight"},
    {"model.layers.*.block_sparse_moe.experts.*.w3.weight",
     "blk.*.ffn_up_exps.weight"},
};

void describe_phimoe(Description& model) {
  const Config& config = model.config();
  expect_text(config, "hidden_act", {"silu"});
  expect_number(config, "router_jitter_noise", 0.01);
  expect_number(config, "num_experts_per_tok", 2);
  add_decoder(model);
  add_window(model);
  add_experts(model,
              {.count = "num_local_experts", .size = "intermediate_size"});
}

}  // namespace

constexpr Architecture kPhiMoe = {
    .model_type = "phimoe",
    .name = "phimoe",
    .defaults = R"({"rms_norm_eps": 1e-5, "max_position_embeddings": 131072,
                    "num_key_value_heads": 8, "rope_theta": 1e6,
                    "num_local_experts": 16, "num_experts_per_tok": 2,
                    "router_jitter_noise": 0.01,
                    "tie_word_embeddings": false})",
    .rules = {kDecoderRules, kAttentionRules, kLayerNormRules, kPhiMoeRules},
    .describe = describe_phimoe,
};

}  // namespace rc::folder
