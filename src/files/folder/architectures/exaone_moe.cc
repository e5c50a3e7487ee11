// K-EXAONE.
#include "base/checked.h"
#include "files/folder/architectures/list.h"
#include "files/folder/common_rules.h"

namespace rc::folder {
namespace {

constexpr Rule kExaoneMoeRules[] = {
    {"model.layers.*.mlp.shared_experts.gate_proj.weight",
     "blk.*.ffn_gate_shexp.weight"},
    {"model.layers.*.mlp.shared_experts.up_proj.weight",
     "blk.*.ffn_up_shexp.weight"},
    {"model.layers.*.mlp.shared_experts.down_proj.weight",
     "blk.*.ffn_down_shexp.weight"},
    {"model.layers.*.mlp.e_score_correction_bias", "blk.*.exp_probs_b.bias"},
    // A part that guesses further tokens.
    {"mtp.%", ""},
};

void describe_exaone_moe(Description& model) {
  const Config& config = model.config();
  expect_text(config, "hidden_act", {"silu"});
  expect_text(config, "scoring_func", {"sigmoid"});
  add_decoder(model);
  add_window(model);
  add_window_layers(model);
  add_experts(model);
  const int64_t shared = config.get_int("num_shared_experts");
  model.add_int("expert_shared_count", shared);
  model.add_int("expert_shared_feed_forward_length",
                checked_mul(shared, config.get_int("moe_intermediate_size"))
                    .value_or(-1));
  model.add_int("leading_dense_block_count", dense_layers(config));
  // GGUF's number of the sigmoid.
  model.add_int("expert_gating_func", 2);
  model.add_number("expert_weights_scale",
                   config.get_number("routed_scaling_factor"));
  add_normalized(model);
  if (config.find_int("n_group").value_or(1) != 1) add_expert_groups(model);
}

}  // namespace

constexpr Architecture kExaoneMoe = {
    .model_type = "exaone_moe",
    .name = "exaone-moe",
    .defaults = R"({"rms_norm_eps": 1e-5, "max_position_embeddings": 2048,
                    "num_key_value_heads": 32, "sliding_window": 4096,
                    "sliding_window_pattern": 4, "num_experts": 64,
                    "num_experts_per_tok": 8, "num_shared_experts": 1,
                    "moe_intermediate_size": 1024,
                    "first_k_dense_replace": 1, "norm_topk_prob": true,
                    "routed_scaling_factor": 2.5,
                    "tie_word_embeddings": false})",
    .rules = {kDecoderRules, kAttentionRules, kNormRules, kHeadNormRules,
              kExpertRules, kExaoneMoeRules},
    .describe = describe_exaone_moe,
};

}  // namespace rc::folder
