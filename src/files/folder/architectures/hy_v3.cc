// Hunyuan 3.
#include "base/checked.h"
#include "files/folder/architectures/list.h"
#include "files/folder/common_rules.h"

namespace rc::folder {
namespace {

constexpr Rule kHyV3Rules[] = {
    {"model.layers.*.mlp.router.gate.weight", "blk.*.ffn_gate_inp.weight"},
    {"model.layers.*.mlp.expert_bias", "blk.*.exp_probs_b"},
    {"model.layers.*.mlp.shared_mlp.gate_proj.weight",
     "blk.*.ffn_gate_shexp.weight"},
    {"model.layers.*.mlp.shared_mlp.up_proj.weight",
     "blk.*.ffn_up_shexp.weight"},
    {"model.layers.*.mlp.shared_mlp.down_proj.weight",
     "blk.*.ffn_down_shexp.weight"},
};

void describe_hy_v3(Description& model) {
  const Config& config = model.config();
  expect_text(config, "hidden_act", {"silu"});
  expect_flag(config, "attention_bias", false);
  expect_flag(config, "mlp_bias", false);
  add_decoder(model);
  add_experts(model);
  // The engine refuses -1.
  const int64_t shared = config.get_int("num_shared_experts");
  model.add_int("expert_shared_feed_forward_length",
                checked_mul(config.get_int("moe_intermediate_size"), shared)
                    .value_or(-1));
  // GGUF's number of the sigmoid.
  model.add_int("expert_gating_func", 2);
  model.add_number("expert_weights_scale",
                   config.get_number("router_scaling_factor"));
  model.add_flag("expert_weights_norm",
                 config.find_flag("route_norm").value_or(true));
}

}  // namespace

// Layers without a router are dense, which their tensors show.
constexpr Architecture kHyV3 = {
    .model_type = "hy_v3",
    .name = "hy_v3",
    .defaults = R"({"rms_norm_eps": 1e-5, "max_position_embeddings": 131072,
                    "num_key_value_heads": 8, "head_dim": 128,
                    "rope_theta": 11158840.0, "num_experts": 192,
                    "num_experts_per_tok": 8, "num_shared_experts": 1,
                    "moe_intermediate_size": 1536,
                    "router_scaling_factor": 2.826,
                    "tie_word_embeddings": false})",
    .rules = {kDecoderRules, kAttentionRules, kNormRules, kHeadNormRules,
              kExpertRules, kHyV3Rules},
    .describe = describe_hy_v3,
};

}  // namespace rc::folder
