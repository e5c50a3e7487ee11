// Configurations as models were released, whose members transformers has under
// other names.
#include <string>
#include <vector>

#include "base/cat.h"
#include "files/folder/folder_util.h"

namespace rc::folder {
namespace {

using test::OneTensor;
using Ints = std::vector<int64_t>;

class Release : public OneTensor {
 protected:
  void SetUp() override { write_tensor("model.norm.weight", "F32", {64}); }

  int64_t number(const std::string& key) const { return open()->get_int(key); }
  double real(const std::string& key) const { return open()->get_float(key); }
  Ints numbers(const std::string& key) const { return *open()->find_ints(key); }
};

TEST_F(Release, MiMoHasNumbersForEachLayer) {
  change("config.json", R"({"model_type": "mimo_v2_flash",
      "num_hidden_layers": 3, "num_attention_heads": 4, "head_dim": 12,
      "v_head_dim": 8, "num_key_value_heads": 1, "hybrid_layer_pattern":
      [0, 1, 0], "swa_num_key_value_heads": 3, "sliding_window_size": 9,
      "swa_rope_theta": 500.0, "rope_theta": 20000.0,
      "attention_value_scale": null, "layernorm_epsilon": 1e-5,
      "layer_types": null})");
  EXPECT_EQ(numbers("mimo2.attention.head_count_kv"), (Ints{1, 3, 1}));
  EXPECT_EQ(numbers("mimo2.attention.sliding_window_pattern"), (Ints{0, 1, 0}));
  // The release counts the positions before a row.
  EXPECT_EQ(number("mimo2.attention.sliding_window"), 10);
  EXPECT_EQ(number("mimo2.attention.key_length"), 12);
  EXPECT_EQ(number("mimo2.attention.value_length"), 8);
  EXPECT_EQ(number("mimo2.rope.dimension_count"), 4);
  EXPECT_EQ(real("mimo2.rope.freq_base"), 20000.0);
  EXPECT_EQ(real("mimo2.rope.freq_base_swa"), 500.0);
  change("config.json", R"({"swa_num_key_value_heads": null})");
  EXPECT_EQ(numbers("mimo2.attention.head_count_kv"), (Ints{1, 2, 1}));
  change("config.json", R"({"hybrid_layer_pattern": [0, 1]})");
  expect_refused(RC_E_FORMAT, "'hybrid_layer_pattern' has 2 members for 3");
}

TEST_F(Release, StepHasNumbersForEachLayer) {
  change("config.json", R"({"model_type": "step3p5", "num_hidden_layers": 3,
      "num_attention_heads": 4, "num_key_value_heads": null, "head_dim": 8,
      "num_attention_groups": 2, "attention_other_setting":
      {"num_attention_heads": 6, "num_attention_groups": 3, "head_dim": 8},
      "layer_types": ["full_attention", "sliding_attention", "full_attention",
      "sliding_attention"], "num_nextn_predict_layers": 1,
      "rope_theta": [20000.0, 500.0, 20000.0, 500.0],
      "partial_rotary_factors": [0.5, 1.0, 0.5, 1.0], "rope_scaling":
      {"rope_type": "llama3", "factor": 2.0, "low_freq_factor": 1.0,
      "high_freq_factor": 32.0, "original_max_position_embeddings": 64},
      "moe_num_experts": 6, "moe_top_k": 2, "moe_layers_enum": "2,3",
      "swiglu_limits": [null, 0, 7, 7], "sliding_window": 16})");
  EXPECT_EQ(numbers("step35.attention.head_count"), (Ints{4, 6, 4}));
  EXPECT_EQ(numbers("step35.attention.head_count_kv"), (Ints{2, 3, 2}));
  EXPECT_EQ(numbers("step35.attention.sliding_window_pattern"),
            (Ints{0, 1, 0}));
  EXPECT_EQ(*open()->find_floats("step35.swiglu_clamp_exp"),
            (std::vector<float>{0, 0, 7}));
  EXPECT_EQ(number("step35.leading_dense_block_count"), 2);
  EXPECT_EQ(number("step35.expert_count"), 6);
  EXPECT_EQ(number("step35.expert_used_count"), 2);
  EXPECT_EQ(number("step35.rope.dimension_count"), 8);
  EXPECT_EQ(real("step35.rope.freq_base"), 20000.0);
  EXPECT_EQ(real("step35.rope.freq_base_swa"), 500.0);
  // Half of the pairs rotate.
  const auto factors = floats("rope_freqs.weight");
  ASSERT_EQ(factors.size(), 4u);
  EXPECT_GT(factors[1], 1.0f);
  EXPECT_EQ(factors[2], 1.0f);
  EXPECT_EQ(factors[3], 1.0f);
  for (const auto& [patch, message] :
       {std::pair{R"({"rope_theta": [1e4, 500.0, 2e4]})",
                  "'rope_theta'[2] is 20000"},
        {R"({"rope_theta": 1e4, "partial_rotary_factors": [0.5, 0.5, 0.5]})",
         "'partial_rotary_factors' has 0.5 for layers with a window"},
        {R"({"partial_rotary_factors": null, "moe_layers_enum": "0,2"})",
         "'moe_layers_enum' is '0,2'"}}) {
    change("config.json", patch);
    expect_refused(RC_E_UNSUPPORTED, message);
  }
}

TEST_F(Release, MiniMaxHasFactorsOfLayers) {
  change("config.json", R"({"model_type": "minimax_m1", "num_hidden_layers": 3,
      "attn_type_list": [0, 1, 0], "rotary_dim": 8, "head_dim": 16,
      "num_local_experts": 4, "layernorm_full_attention_alpha": 3.5,
      "layernorm_linear_attention_alpha": 3.5, "layernorm_mlp_alpha": 3.5,
      "layernorm_mlp_beta": 1.0, "layer_types": null})");
  EXPECT_EQ(numbers("minimax-01.attention.recurrent_layers"), (Ints{1, 0, 1}));
  EXPECT_EQ(real("minimax-01.residual_scale"), 3.5);
  EXPECT_EQ(number("minimax-01.rope.dimension_count"), 8);
  EXPECT_EQ(number("minimax-01.attention.key_length"), 16);
  change("config.json", R"({"layernorm_mlp_alpha": 2.0})");
  expect_refused(RC_E_UNSUPPORTED, "is 3.5; models of type minimax_m1");
}

// As transformers takes it, which writes both.
TEST_F(Release, MiniMaxM2HasTwoKeysForTheRotaryDimension) {
  change("config.json", R"({"model_type": "minimax_m2", "rotary_dim": 8,
      "head_dim": 16, "num_local_experts": 4, "num_experts_per_tok": 2,
      "layer_types": null, "rope_parameters": {"rope_type": "default",
      "rope_theta": 1e4, "partial_rotary_factor": 0.25}})");
  EXPECT_EQ(number("minimax-m2.rope.dimension_count"), 4);
  change("config.json",
         R"({"rope_parameters": {"partial_rotary_factor": null}})");
  EXPECT_EQ(number("minimax-m2.rope.dimension_count"), 8);
  EXPECT_EQ(real("minimax-m2.rope.freq_base"), 10000.0);
}

TEST_F(Release, KimiCountsLayersFromOne) {
  change("config.json", R"({"model_type": "kimi_linear",
      "num_hidden_layers": 3, "num_attention_heads": 4, "linear_attn_config":
      {"full_attn_layers": [2], "kda_layers": [1, 3], "head_dim": 24,
      "num_heads": 4, "short_conv_kernel_size": 3}, "moe_renormalize": false,
      "num_experts_per_token": 5, "num_shared_experts": 2,
      "model_max_length": 1000, "layer_types": null})");
  EXPECT_EQ(numbers("kimi-linear.attention.head_count_kv"), (Ints{0, 1, 0}));
  EXPECT_EQ(number("kimi-linear.kda.head_dim"), 24);
  EXPECT_EQ(number("kimi-linear.ssm.conv_kernel"), 3);
  EXPECT_EQ(number("kimi-linear.expert_used_count"), 5);
  EXPECT_EQ(number("kimi-linear.expert_shared_count"), 2);
  EXPECT_EQ(number("kimi-linear.context_length"), 1000);
  change("config.json", R"({"linear_attn_config": {"num_heads": 2}})");
  expect_refused(RC_E_UNSUPPORTED, "'linear_num_heads' is 2");
}

}  // namespace
}  // namespace rc::folder
