// DeepSeek V2, V3 and V3.2, Kimi K2, Sarvam 105B, GLM 4.7 Flash, GLM 5, and
// Youtu-LLM.
#include <optional>

#include "base/checked.h"
#include "files/folder/architectures/list.h"
#include "files/folder/common_rules.h"
#include "files/folder/latent_heads.h"

namespace rc::folder {
namespace {

// All but experts.
void describe_attention(Description& model) {
  const Config& config = model.config();
  expect_text(config, "hidden_act", {"silu"});
  expect_flag(config, "attention_bias", false);
  expect_flag(config, "mlp_bias", false);
  expect_flag(config, "rope_interleave", true);
  model.add_int("block_count", layer_count(config));
  model.add_int("context_length", config.get_int("max_position_embeddings"));
  model.add_int("embedding_length", config.get_int("hidden_size"));
  model.add_int("feed_forward_length", config.get_int("intermediate_size"));
  model.add_int("attention.head_count", config.get_int("num_attention_heads"));
  model.add_int("attention.head_count_kv", 1);
  model.add_number("attention.layer_norm_rms_epsilon",
                   config.get_number("rms_norm_eps"));
  model.add_int("vocab_size", config.get_int("vocab_size"));
  const int64_t rotated = config.get_int("qk_rope_head_dim");
  const int64_t rank = config.get_int("kv_lora_rank");
  const auto sum = [&](int64_t a, int64_t b) {
    return checked_add(a, b).value_or(-1);
  };
  if (const auto query = config.find_int("q_lora_rank")) {
    model.add_int("attention.q_lora_rank", *query);
  }
  model.add_int("attention.kv_lora_rank", rank);
  model.add_int("attention.key_length", sum(rank, rotated));
  model.add_int("attention.value_length", rank);
  model.add_int("attention.key_length_mla",
                sum(config.get_int("qk_nope_head_dim"), rotated));
  model.add_int("attention.value_length_mla", config.get_int("v_head_dim"));
  add_rope(model, {.rotated_size = "qk_rope_head_dim"});
}

// All but how experts are chosen.
void describe_latent(Description& model) {
  const Config& config = model.config();
  expect_number(config, "moe_layer_freq", 1);
  describe_attention(model);
  add_experts(model, {.count = "n_routed_experts"});
  model.add_int("expert_shared_count",
                config.find_int("n_shared_experts").value_or(0));
  model.add_int("leading_dense_block_count", dense_layers(config));
  model.add_number("expert_weights_scale",
                   config.get_number("routed_scaling_factor"));
}

void describe_v2(Description& model) {
  const Config& config = model.config();
  describe_latent(model);
  expect_text(config, "scoring_func", {"softmax"});
  expect_text(config, "topk_method", {"greedy", "group_limited_greedy"});
  if (config.get_text("topk_method") == "group_limited_greedy") {
    add_expert_groups(model);
  }
  // GGUF's number of the softmax.
  model.add_int("expert_gating_func", 1);
  const bool normed = config.find_flag("norm_topk_prob").value_or(false);
  const double scale = config.get_number("routed_scaling_factor");
  // The model's own code scales only shares that it has not divided by their
  // sum, and others do both.
  if (normed && scale != 1.0) {
    config.refuse(RC_E_UNSUPPORTED, "norm_topk_prob",
                  " is true and routed_scaling_factor is ", scale,
                  "; models of type ", config.get_text("model_type"),
                  " are computed with one or the other");
  }
  model.add_flag("expert_weights_norm", normed);
}

void describe_v3(Description& model) {
  const Config& config = model.config();
  describe_latent(model);
  expect_text(config, "scoring_func", {"sigmoid"});
  expect_text(config, "topk_method", {"noaux_tc"});
  add_expert_groups(model);
  // GGUF's number of the sigmoid.
  model.add_int("expert_gating_func", 2);
  model.add_flag("expert_weights_norm",
                 config.find_flag("norm_topk_prob").value_or(true));
}

// The indexer, which chooses positions; see model::LatentTraits::indexed.
void describe_indexed(Description& model) {
  const Config& config = model.config();
  describe_v3(model);
  model.add_int("attention.indexer.head_count",
                config.get_int("index_n_heads"));
  model.add_int("attention.indexer.key_length",
                config.get_int("index_head_dim"));
  model.add_int("attention.indexer.top_k", config.get_int("index_topk"));
  const auto types = config.find_texts("indexer_types");
  if (!types) return;
  std::vector<bool> full;
  for (const std::string& type : *types) {
    if (type != "full" && type != "shared") {
      config.refuse(RC_E_UNSUPPORTED, "indexer_types", " holds ", quote(type),
                    "; known are full, shared");
    }
    full.push_back(type == "full");
  }
  model.add_flags("attention.indexer.types", full);
}

// Of layers that are all dense.
void describe_youtu(Description& model) {
  const Config& config = model.config();
  describe_attention(model);
  model.add_int("leading_dense_block_count", layer_count(config));
  // Other programs want these, too.
  model.add_int("expert_feed_forward_length",
                config.get_int("intermediate_size"));
  model.add_int("expert_shared_count", 0);
}

constexpr std::string_view kV3Defaults =
    R"({"rms_norm_eps": 1e-6, "max_position_embeddings": 4096,
        "n_group": 8, "topk_group": 4, "norm_topk_prob": true,
        "routed_scaling_factor": 2.5, "first_k_dense_replace": 3,
        "q_lora_rank": 1536, "kv_lora_rank": 512, "qk_rope_head_dim": 64,
        "qk_nope_head_dim": 128, "v_head_dim": 128, "n_shared_experts": 1,
        "tie_word_embeddings": false})";

}  // namespace

constexpr Architecture kDeepSeekV2 = {
    .model_type = "deepseek_v2",
    .name = "deepseek2",
    .defaults = R"({"rms_norm_eps": 1e-6, "max_position_embeddings": 2048,
                    "topk_method": "greedy", "routed_scaling_factor": 1.0,
                    "first_k_dense_replace": 0, "q_lora_rank": 1536,
                    "kv_lora_rank": 512, "qk_rope_head_dim": 64,
                    "qk_nope_head_dim": 128, "v_head_dim": 128,
                    "n_shared_experts": 2, "moe_intermediate_size": 1407,
                    "tie_word_embeddings": false})",
    .rules = {kDecoderRules, kLatentRules, kLatentHeadRules, kNormRules,
              kExpertRules, kSelectedExpertRules},
    .describe = describe_v2,
};

constexpr Architecture kDeepSeekV3 = {
    .model_type = "deepseek_v3",
    .name = "deepseek2",
    .defaults = kV3Defaults,
    .rules = {kDecoderRules, kLatentRules, kLatentHeadRules, kNormRules,
              kExpertRules, kSelectedExpertRules},
    .describe = describe_v3,
};

// The same under another name.
constexpr Architecture kKimiK2 = {
    .model_type = "kimi_k2",
    .name = "deepseek2",
    .defaults = kV3Defaults,
    .rules = {kDecoderRules, kLatentRules, kLatentHeadRules, kNormRules,
              kExpertRules, kSelectedExpertRules},
    .describe = describe_v3,
};

// The same with the experts of GLM 4.5.
constexpr Architecture kGlm4MoeLite = {
    .model_type = "glm4_moe_lite",
    .name = "deepseek2",
    .defaults = R"({"rms_norm_eps": 1e-5, "max_position_embeddings": 202752,
                    "n_group": 1, "topk_group": 1, "norm_topk_prob": true,
                    "routed_scaling_factor": 1.8, "first_k_dense_replace": 1,
                    "q_lora_rank": 768, "kv_lora_rank": 512,
                    "qk_rope_head_dim": 64, "qk_nope_head_dim": 192,
                    "v_head_dim": 256, "n_shared_experts": 1,
                    "n_routed_experts": 64, "num_experts_per_tok": 4,
                    "moe_intermediate_size": 1536,
                    "tie_word_embeddings": false})",
    .rules = {kDecoderRules, kLatentRules, kLatentHeadRules, kNormRules,
              kExpertRules, kSelectedExpertRules},
    .describe = describe_v3,
};

constexpr Architecture kYoutu = {
    .model_type = "youtu",
    .name = "deepseek2",
    .defaults = R"({"rms_norm_eps": 1e-6, "max_position_embeddings": 131072,
                    "q_lora_rank": 1536, "kv_lora_rank": 512,
                    "qk_rope_head_dim": 64, "qk_nope_head_dim": 128,
                    "v_head_dim": 128, "tie_word_embeddings": true})",
    .rules = {kDecoderRules, kLatentRules, kLatentHeadRules, kNormRules},
    .describe = describe_youtu,
};

// The same, mostly without a short vector of queries.
constexpr Architecture kSarvamMla = {
    .model_type = "sarvam_mla",
    .name = "deepseek2",
    .defaults = R"({"rms_norm_eps": 1e-6, "max_position_embeddings": 4096,
                    "n_group": 1, "topk_group": 1, "norm_topk_prob": true,
                    "routed_scaling_factor": 2.5, "first_k_dense_replace": 1,
                    "kv_lora_rank": 512, "qk_rope_head_dim": 64,
                    "qk_nope_head_dim": 128, "v_head_dim": 128,
                    "n_shared_experts": 1, "n_routed_experts": 128,
                    "num_experts_per_tok": 8, "moe_intermediate_size": 2048,
                    "tie_word_embeddings": false})",
    // The names of its release.
    .aliases = {{"num_experts", "n_routed_experts"},
                {"num_shared_experts", "n_shared_experts"},
                {"num_mtp_layers", "num_nextn_predict_layers"}},
    .rules = {kDecoderRules, kLatentRules, kLatentHeadRules, kNormRules,
              kExpertRules, kSelectedExpertRules},
    .describe = describe_v3,
};

// Positions are chosen by an indexer.
constexpr Architecture kDeepSeekV32 = {
    .model_type = "deepseek_v32",
    .name = "deepseek32",
    .defaults =
        R"({"rms_norm_eps": 1e-6, "max_position_embeddings": 163840,
            "n_group": 8, "topk_group": 4, "norm_topk_prob": true,
            "routed_scaling_factor": 2.5, "first_k_dense_replace": 3,
            "q_lora_rank": 1536, "kv_lora_rank": 512, "qk_rope_head_dim": 64,
            "qk_nope_head_dim": 128, "v_head_dim": 128, "n_shared_experts": 1,
            "n_routed_experts": 256, "num_experts_per_tok": 8,
            "moe_intermediate_size": 2048, "index_topk": 2048,
            "index_head_dim": 128, "index_n_heads": 64,
            "tie_word_embeddings": false})",
    .rules = {kDecoderRules, kLatentRules, kLatentHeadRules, kNormRules,
              kExpertRules, kSelectedExpertRules, kIndexerRules},
    .describe = describe_indexed,
};

constexpr Architecture kGlmMoeDsa = {
    .model_type = "glm_moe_dsa",
    .name = "glm-dsa",
    .defaults =
        R"({"rms_norm_eps": 1e-5, "max_position_embeddings": 202752,
            "n_group": 1, "topk_group": 1, "norm_topk_prob": true,
            "routed_scaling_factor": 2.5, "first_k_dense_replace": 3,
            "q_lora_rank": 2048, "kv_lora_rank": 512, "qk_rope_head_dim": 64,
            "qk_nope_head_dim": 192, "v_head_dim": 256, "n_shared_experts": 1,
            "n_routed_experts": 256, "num_experts_per_tok": 8,
            "moe_intermediate_size": 2048, "index_topk": 2048,
            "index_head_dim": 128, "index_n_heads": 32,
            "tie_word_embeddings": false})",
    .rules = {kDecoderRules, kLatentRules, kLatentHeadRules, kNormRules,
              kExpertRules, kSelectedExpertRules, kIndexerRules},
    .describe = describe_indexed,
};

}  // namespace rc::folder
