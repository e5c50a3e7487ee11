// GLM-4.5 and 4.6, and Solar Open.
#include "files/folder/architectures/list.h"
#include "files/folder/common_rules.h"

namespace rc::folder {
namespace {

void describe_glm4_moe(Description& model) {
  expect_text(model.config(), "hidden_act", {"silu"});
  add_decoder(model, {.rotated_part = "partial_rotary_factor"});
  add_selected_experts(model);
}

}  // namespace

constexpr Architecture kGlm4Moe = {
    .model_type = "glm4_moe",
    .name = "glm4moe",
    .defaults = R"({"rms_norm_eps": 1e-5, "max_position_embeddings": 131072,
                    "num_key_value_heads": 8, "partial_rotary_factor": 0.5,
                    "moe_intermediate_size": 1408, "num_experts_per_tok": 8,
                    "n_shared_experts": 1, "n_routed_experts": 128,
                    "routed_scaling_factor": 1.0, "first_k_dense_replace": 1,
                    "norm_topk_prob": true, "tie_word_embeddings": false})",
    .rules = {kDecoderRules, kAttentionRules, kPostAttentionNormRules,
              kHeadNormRules, kExpertRules, kSelectedExpertRules},
    .describe = describe_glm4_moe,
};

// The same with experts in every layer and without norms of queries and keys.
constexpr Architecture kSolarOpen = {
    .model_type = "solar_open",
    .name = "glm4moe",
    .defaults = R"({"rms_norm_eps": 1e-5, "max_position_embeddings": 131072,
                    "num_key_value_heads": 8, "head_dim": 128,
                    "intermediate_size": 10240, "rope_theta": 1e6,
                    "moe_intermediate_size": 1280, "num_experts_per_tok": 8,
                    "n_shared_experts": 1, "n_routed_experts": 128,
                    "routed_scaling_factor": 1.0, "first_k_dense_replace": 0,
                    "norm_topk_prob": true, "tie_word_embeddings": false})",
    .rules = {kDecoderRules, kAttentionRules, kPostAttentionNormRules,
              kExpertRules, kSelectedExpertRules},
    .describe = describe_glm4_moe,
};

}  // namespace rc::folder
