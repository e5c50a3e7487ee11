// Folders of single architectures.
#include <cmath>

#include "files/folder/folder_util.h"

namespace rc::folder {
namespace {

using test::FolderTest;

TEST_F(FolderTest, UnsupportedOptionsOfArchitecturesAreRefused) {
  const struct {
    const char* folder;
    const char* patch;
    const char* message;
  } cases[] = {
      {"gpt2", R"({"activation_function": "mish"})",
       "'activation_function' is 'mish'"},
      {"gpt2", R"({"scale_attn_weights": false})",
       "'scale_attn_weights' is false"},
      {"gpt2", R"({"scale_attn_by_inverse_layer_idx": true})",
       "'scale_attn_by_inverse_layer_idx' is true"},
      {"gpt2", R"({"add_cross_attention": true})",
       "'add_cross_attention' is true"},
      {"gpt2", R"({"model_type": "gpt_bigcode", "multi_query": false})",
       "'multi_query' is false"},
      {"falcon", R"({"activation": "mish"})", "'activation' is 'mish'"},
      {"deepseek_v3", R"({"attention_bias": true})",
       "'attention_bias' is true"},
      {"deepseek_v3", R"({"rope_interleave": false})",
       "'rope_interleave' is false"},
      {"deepseek_v3", R"({"scoring_func": "softmax"})",
       "'scoring_func' is 'softmax'"},
      {"deepseek_v3", R"({"model_type": "deepseek_v2"})",
       "'norm_topk_prob' is true"},
      {"deepseek_v3", R"({"model_type": "glm4_moe_lite",
                          "mlp_layer_types": ["sparse", "dense"]})",
       "'mlp_layer_types'[1] is 'dense'"},
      {"deepseek_v3", R"({"model_type": "glm_moe_dsa",
                          "indexer_types": ["half"]})",
       "'indexer_types' holds 'half'"},
      {"llama", R"({"model_type": "iquestcoder", "clip_qkv": 8.0})",
       "'clip_qkv' is not null; models of type iquestcoder"},
      {"llama", R"({"model_type": "iquestcoder", "use_sliding_window": true})",
       "'use_sliding_window' is true; models of type iquestcoder"},
      {"gpt2", R"({"model_type": "gpt-sw3", "add_cross_attention": true})",
       "'add_cross_attention' is true; models of type gpt-sw3"},
      {"deepseek_v3", R"({"model_type": "youtu", "attention_bias": true})",
       "'attention_bias' is true; models of type youtu"},
      {"llama", R"({"model_type": "mellum", "attention_bias": true})",
       "'attention_bias' is true; models of type mellum"},
      {"llama", R"({"model_type": "mellum",
                    "mlp_layer_types": ["sparse", "dense"]})",
       "'mlp_layer_types' holds 'dense'; models of type mellum"},
      {"llama", R"({"model_type": "mellum", "layer_types": ["chunked"]})",
       "'layer_types' holds 'chunked'; known are full_attention"},
      {"llama", R"({"model_type": "mellum", "use_sliding_window": false,
                    "layer_types": ["full_attention", "sliding_attention"]})",
       "'use_sliding_window' is false; models of type mellum"},
      {"llama", R"({"model_type": "mellum", "rope_parameters": {
                    "full_attention": {"rope_type": "default"},
                    "sliding_attention": {"rope_type": "yarn"}}})",
       "'rope_type' is 'yarn'; layers with a window are computed with default"},
      {"glm4_moe", R"({"model_type": "sarvam_moe"})",
       "'attention_bias' is true; models of type sarvam_moe"},
      {"glm4_moe", R"({"model_type": "sarvam_moe", "attention_bias": null,
                       "use_qkv_bias": true})",
       "'attention_bias' is true; models of type sarvam_moe"},
      {"glm4_moe", R"({"model_type": "sarvam_moe", "attention_bias": false,
                       "score_function": "softmax"})",
       "'score_function' is 'softmax'"},
      {"glm4_moe", R"({"model_type": "sarvam_moe", "attention_bias": false,
                       "use_qk_norm": false})",
       "'use_qk_norm' is false; models of type sarvam_moe"},
      {"glm4_moe",
       R"({"attention_bias": false, "model_type": "afmoe", "num_experts": 4})",
       "'mup_enabled' is false"},
      {"glm4_moe",
       R"({"attention_bias": false, "model_type": "hy_v3", "mlp_bias": true})",
       "'mlp_bias' is true"},
      {"glm4_moe", R"({"attention_bias": false, "swa_head_dim": 1,
                       "model_type": "mimo_v2_flash", "v_head_dim": 8})",
       "'swa_head_dim' is 1"},
      {"glm4_moe", R"({"attention_bias": false, "moe_layers_enum": "1,3",
                       "model_type": "step3p5", "n_routed_experts": 4,
                       "rope_parameters": null})",
       "'moe_layers_enum' is '1,3'"},
      {"llama", R"({"model_type": "minimax", "full_attn_beta_factor": 2.0})",
       "'full_attn_beta_factor' is 2"},
      {"llama", R"({"model_type": "minimax", "mlp_alpha_factor": 3.0,
                    "linear_attn_alpha_factor": 2.0})",
       "'linear_attn_alpha_factor' is 2"},
      {"llama4", R"({"no_rope_layer_interval": 3})",
       "'no_rope_layer_interval' is 3"},
      {"llama4", R"({"no_rope_layers": [1, 1, 1, 1]})",
       "'no_rope_layers' has 1 for layer 3"},
      {"llama4", R"({"moe_layers": [0]})", "'moe_layers' are not those"},
      {"llama", R"({"model_type": "mpt", "attn_config": {"alibi": false}})",
       "'alibi' is false; models of type mpt"},
      {"llama", R"({"model_type": "bloom",
                    "apply_residual_connection_post_layernorm": true})",
       "'apply_residual_connection_post_layernorm' is true"},
      {"glm4_moe", R"({"model_type": "dots1", "partial_rotary_factor": null,
                       "sliding_window": 8, "max_window_layers": 1})",
       "'max_window_layers' is less than num_hidden_layers"},
      {"llama", R"({"model_type": "phi3",
                    "rope_scaling": {"rope_type": "ntk"}})",
       "'rope_type' is 'ntk'"},
      {"llama", R"({"model_type": "cohere2", "use_qk_norm": true})",
       "'use_qk_norm' is true"},
      {"llama", R"({"model_type": "phimoe", "router_jitter_noise": 0.5})",
       "'router_jitter_noise' is 0.5"},
      {"llama", R"({"model_type": "phimoe",
                    "rope_scaling": {"rope_type": "longrope",
                                     "original_max_position_embeddings": 16,
                                     "short_mscale": 1.0, "long_mscale": 1.5}})",
       "'short_mscale' is 1, but only the same as long_mscale, 1.5"},
      {"llama", R"({"model_type": "apertus"})", "'hidden_act' is 'silu'"},
      {"llama", R"({"model_type": "minimax_m2", "scoring_func": "softmax"})",
       "'scoring_func' is 'softmax'"},
      {"llama", R"({"model_type": "modernbert", "norm_bias": true})",
       "'norm_bias' is true"},
      {"llama", R"({"model_type": "nomic_bert", "prenorm": true})",
       "'prenorm' is true"},
      {"llama", R"({"model_type": "nomic_bert",
                    "rope_parameters": {"rope_type": "ntk"}})",
       "'rope_type' is 'ntk'"},
      {"llama", R"({"model_type": "xlm-roberta", "hidden_act": "mish"})",
       "'hidden_act' is 'mish'"},
      {"llama", R"({"model_type": "phi", "hidden_act": "mish"})",
       "'hidden_act' is 'mish'"},
      {"llama", R"({"model_type": "qwen2_moe", "decoder_sparse_step": 2})",
       "'decoder_sparse_step' is 2"},
      {"llama", R"({"model_type": "qwen2_moe", "mlp_only_layers": [0]})",
       "'mlp_only_layers' is not empty"},
      {"llama", R"({"model_type": "olmoe", "clip_qkv": 8.0})",
       "'clip_qkv' is not null; models of type olmoe"},
      {"llama", R"({"model_type": "gpt_neox", "hidden_act": "mish"})",
       "'hidden_act' is 'mish'"},
      {"llama", R"({"model_type": "ernie4_5_moe", "moe_layer_end_index": 0})",
       "'moe_layer_end_index' is 0"},
      {"llama", R"({"model_type": "hunyuan_v1_moe", "num_experts": 2,
                    "moe_topk": [1, 2]})",
       "'moe_topk' is not the same for all layers"},
      {"llama", R"({"model_type": "granitemoe",
                    "position_embedding_type": "nope"})",
       "'position_embedding_type' is 'nope'"},
      {"llama", R"({"model_type": "mamba2", "rms_norm": false})",
       "'rms_norm' is false"},
      {"llama", R"({"model_type": "lfm2", "conv_bias": true})",
       "'conv_bias' is true"},
      {"llama", R"({"model_type": "lfm2", "layer_types": ["window"]})",
       "'layer_types' holds 'window'; known are conv, full_attention"},
      {"llama", R"({"model_type": "nemotron_h",
                    "hybrid_override_pattern": "MX*"})",
       "'hybrid_override_pattern' is 'MX*'"},
      {"llama", R"({"model_type": "falcon_h1", "mamba_rms_norm": true})",
       "'mamba_norm_before_gate' is true"},
      {"llama", R"({"model_type": "falcon_h1", "tie_word_embeddings": true,
                    "embedding_multiplier": 2.0})",
       "'tie_word_embeddings' is true, but embedding_multiplier"},
      {"llama", R"({"model_type": "jamba", "sliding_window": 8})",
       "'sliding_window' is not null"},
      {"llama", R"({"model_type": "qwen3_next", "layer_types":
                    ["full_attention", "linear_attention"]})",
       "'layer_types'[1] is 'linear_attention'"},
  };
  for (const auto& [folder, patch, message] : cases) {
    copy(folder);
    change("config.json", patch);
    expect_refused(RC_E_UNSUPPORTED, message);
  }
}

// Frequencies for short and for long sequences become tensors.
TEST_F(FolderTest, WrongLongRopeFactorsAreRefused) {
  copy("llama");
  constexpr const char* kConfig = R"({"model_type": "phi3", "rope_scaling":
      {"rope_type": "longrope", "original_max_position_embeddings": null,
       "short_factor": [1.0], "long_factor": [2.0]}})";
  change("config.json", kConfig);
  expect_refused(RC_E_FORMAT, "original_max_position_embeddings");
  change("config.json",
         R"({"rope_scaling": {"original_max_position_embeddings": 1}})");
  expect_refused(RC_E_FORMAT, "'original_max_position_embeddings' is 1");
  change("config.json",
         R"({"rope_scaling": {"original_max_position_embeddings": 16}})");
  expect_refused(RC_E_FORMAT, "'short_factor' has 1 numbers, but");
}

TEST_F(FolderTest, MissingParametersOfFunctionsAreRefused) {
  copy("llama");
  change("config.json", R"({"model_type": "apertus", "hidden_act": "xielu"})");
  expect_refused(RC_E_FORMAT, "model.layers.0.mlp.act_fn.alpha_p is missing");
}

TEST_F(FolderTest, PositionsBeginBehindThatOfPadding) {
  copy("bert");
  change("config.json", R"({"model_type": "roberta", "pad_token_id": 9999})");
  expect_refused(RC_E_FORMAT, "'pad_token_id' is 9999");
  change("config.json", R"({"pad_token_id": 1})");
  const int64_t all = open()->find_tensor("position_embd.weight")->shape[0];
  EXPECT_EQ(open()->get_int("bert.context_length"), all);
  change("config.json", R"({"pad_token_id": 3})");
  EXPECT_EQ(open()->find_tensor("position_embd.weight")->shape[0], all - 2);
}

TEST_F(FolderTest, FeedForwardSizeDefaultsToFourTimesTheWidth) {
  copy("gpt2");
  EXPECT_EQ(open()->get_int("gpt2.feed_forward_length"), 48);
  EXPECT_EQ(open()->get_int("gpt2.context_length"), 32);
  change("config.json", R"({"n_inner": null})");
  EXPECT_EQ(open()->get_int("gpt2.feed_forward_length"), 128);
  copy("falcon");
  EXPECT_EQ(open()->get_int("falcon.feed_forward_length"), 64);
  change("config.json", R"({"ffn_hidden_size": null})");
  EXPECT_EQ(open()->get_int("falcon.feed_forward_length"), 128);
}

TEST_F(FolderTest, GroupsOfHeadsMustMatchTheTensor) {
  copy("falcon");
  EXPECT_EQ(open()->get_int("falcon.attention.head_count_kv"), 2);
  for (const auto& [patch, groups] :
       {std::pair{R"({"num_kv_heads": 3})", 3},
        {R"({"num_kv_heads": 0})", 0},
        {R"({"num_kv_heads": null})", 4},
        {R"({"new_decoder_architecture": false})", 1},
        {R"({"new_decoder_architecture": false, "multi_query": false})", 4}}) {
    copy("falcon");
    change("config.json", patch);
    expect_refused(RC_E_FORMAT, cat("has shape [64, 32], which is not that of "
                                    "4 heads (at most 4096) in ",
                                    groups, " groups"));
  }
}

TEST_F(FolderTest, LatentKeysAndValuesAreSplit) {
  copy("deepseek_v3");
  const auto file = open();
  const auto shape = [&](const char* name) {
    return file->find_tensor(name)->shape;
  };
  EXPECT_EQ(shape("blk.0.attn_k_b.weight"), (std::vector<int64_t>{4, 16, 6}));
  EXPECT_EQ(shape("blk.0.attn_v_b.weight"), (std::vector<int64_t>{4, 10, 16}));
  for (const char* patch : {R"({"v_head_dim": 11})", R"({"kv_lora_rank": 15})",
                            R"({"qk_nope_head_dim": 0})",
                            R"({"v_head_dim": 9223372036854775807})"}) {
    copy("deepseek_v3");
    change("config.json", patch);
    EXPECT_THROW(open(), Error) << patch;
  }
}

TEST_F(FolderTest, RotatedPartOfAHeadIsRead) {
  copy("glm4_moe");
  const auto dimensions = [&](const char* patch) {
    change("config.json", patch);
    return open()->get_int("glm4moe.rope.dimension_count");
  };
  EXPECT_EQ(dimensions("{}"), 4);
  EXPECT_EQ(dimensions(R"({"partial_rotary_factor": 0.8})"), 6);
  // Newer folders have it next to the base.
  EXPECT_EQ(dimensions(R"({"partial_rotary_factor": null, "rope_theta": null,
          "rope_parameters": {"rope_type": "default", "rope_theta": 5e5,
                              "partial_rotary_factor": 0.25}})"),
            2);
  EXPECT_EQ(open()->get_float("glm4moe.rope.freq_base"), 5e5);
  for (const char* part : {"1.0", "0.999"}) {
    copy("falcon");
    change("config.json", cat(R"({"model_type": "phi3", "hidden_act": "silu",
        "rms_norm_eps": 1e-5, "intermediate_size": 64,
        "head_dim": 9223372036854775807, "partial_rotary_factor": )",
                              part, "}"));
    expect_refused(RC_E_FORMAT, "would be 9223372036854775807");
  }
  copy("glm4_moe");
  change("config.json", R"({"partial_rotary_factor": null})");
  for (const char* part : {"0", "-0.5", "1.5", "1e300"}) {
    change("config.json", cat(R"({"rope_parameters": {)",
                              R"("partial_rotary_factor": )", part, "}}"));
    expect_refused(RC_E_FORMAT, "'rope_parameters'.'partial_rotary_factor' is");
  }
}

// If all layers have a window, rope_parameters may describe only these.
TEST_F(FolderTest, RopeParametersMayCoverWindowsOnly) {
  copy("llama");
  change("config.json", R"({"model_type": "mellum", "sliding_window": 8,
      "layer_types": ["sliding_attention", "sliding_attention"],
      "rope_theta": null, "rope_scaling": null, "rope_parameters": {
          "sliding_attention": {"rope_type": "default", "rope_theta": 500.0}}})");
  const auto file = open();
  EXPECT_EQ(file->get_float("mellum.rope.freq_base"), 500.0);
  EXPECT_EQ(file->get_float("mellum.rope.freq_base_swa"), 500.0);
  EXPECT_EQ(file->get_int("mellum.attention.sliding_window"), 8);
}

TEST_F(FolderTest, SettingsOfExpertsAreRead) {
  copy("glm4_moe");
  const auto file = open();
  const auto number = [&](const char* key) {
    return file->get_int(cat("glm4moe.", key));
  };
  EXPECT_EQ(number("expert_count"), 5);
  EXPECT_EQ(number("expert_used_count"), 2);
  EXPECT_EQ(number("expert_shared_count"), 1);
  EXPECT_EQ(number("expert_feed_forward_length"), 16);
  EXPECT_EQ(number("leading_dense_block_count"), 1);
  EXPECT_EQ(number("expert_gating_func"), 2);
  EXPECT_EQ(file->get_float("glm4moe.expert_weights_scale"), 1.5);
  EXPECT_EQ(file->find_bool("glm4moe.expert_weights_norm"), true);
}

TEST_F(FolderTest, NextTokenPredictionLayersAreSkipped) {
  copy("glm4_moe");
  change("config.json",
         R"({"num_hidden_layers": 1, "num_nextn_predict_layers": 1})");
  const auto file = open();
  EXPECT_EQ(file->get_int("glm4moe.block_count"), 1);
  EXPECT_NE(file->find_tensor("blk.0.attn_q.weight"), nullptr);
  EXPECT_EQ(file->find_tensor("blk.1.attn_q.weight"), nullptr);
  change("config.json", R"({"num_nextn_predict_layers": null})");
  EXPECT_NE(open()->find_tensor("blk.1.attn_q.weight"), nullptr);
}

// By the exponent d / (d - 2) for heads of d elements; here there are 8.
TEST_F(FolderTest, HunyuanScalesTheRopeBase) {
  copy("llama");
  change("config.json",
         R"({"model_type": "hunyuan_v1_dense", "rope_theta": 10000.0,
             "rope_scaling": {"rope_type": "dynamic", "alpha": 1000.0}})");
  const auto file = open();
  EXPECT_NEAR(file->get_float("hunyuan-dense.rope.freq_base"), 1e8, 1e2);
  EXPECT_FALSE(file->find_string("hunyuan-dense.rope.scaling.type"));
  change("config.json", R"({"rope_scaling": {"alpha": 0}})");
  expect_refused(RC_E_FORMAT, "'rope_scaling'.'alpha' is 0");
}

TEST_F(FolderTest, SlidingWindowPatternOfOlderFoldersIsRead) {
  copy("gemma3");
  change("config.json",
         R"({"layer_types": null, "sliding_window_pattern": 3})");
  EXPECT_EQ(open()->get_int("gemma3.attention.sliding_window_pattern"), 3);
}

TEST_F(FolderTest, TimeStepLimitsAreNumbersOrInfinity) {
  copy("granitemoehybrid");
  const auto limits = [&](const char* json) {
    change("config.json", cat(R"({"time_step_limit": )", json, "}"));
    const auto file = open();
    return std::pair(file->find_float("granitehybrid.ssm.time_step_min"),
                     file->find_float("granitehybrid.ssm.time_step_max"));
  };
  using Limits = std::pair<std::optional<double>, std::optional<double>>;
  EXPECT_EQ(limits(R"([0.0, {"__float__": "Infinity"}])"), Limits());
  EXPECT_EQ(limits("[0, null]"), Limits());
  EXPECT_EQ(limits("[0.5, 2]"), Limits(0.5, 2.0));
  EXPECT_EQ(limits("[0.0, 0.25]"), Limits(std::nullopt, 0.25));
  for (const char* wrong : {"[0.5]", "0.5", R"([0.5, "x"])", "[true, null]"}) {
    change("config.json", cat(R"({"time_step_limit": )", wrong, "}"));
    expect_refused(RC_E_FORMAT, "'time_step_limit'");
  }
  change("config.json", R"({"time_step_limit": [2.0, 1.0]})");
  expect_refused(RC_E_FORMAT, "ssm.time_step_max is 1, but must be above");
}

}  // namespace
}  // namespace rc::folder
