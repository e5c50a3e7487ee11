// GLM-4 of June 2024, and of April 2025, which has norms on both sides. They
// rotate adjacent pairs themselves.
#include "files/folder/architectures/list.h"
#include "files/folder/common_rules.h"

namespace rc::folder {
namespace {

constexpr Rule kAroundRules[] = {
    {"model.layers.*.post_self_attn_layernorm.weight",
     "blk.*.post_attention_norm.weight"},
    {"model.layers.*.post_mlp_layernorm.weight", "blk.*.post_ffw_norm.weight"},
};

void describe_glm(Description& model) {
  expect_text(model.config(), "hidden_act", {"silu"});
  add_decoder(model, {.rotated_part = "partial_rotary_factor"});
}

constexpr std::string_view kGlmDefaults =
    R"({"rms_norm_eps": 1.5625e-7, "max_position_embeddings": 131072,
        "head_dim": 128, "num_key_value_heads": 2,
        "partial_rotary_factor": 0.5, "tie_word_embeddings": false})";

}  // namespace

constexpr Architecture kGlm = {
    .model_type = "glm",
    .name = "chatglm",
    .defaults = kGlmDefaults,
    .rules = {kDecoderRules, kAttentionRules, kNormRules, kFusedGateRules},
    .describe = describe_glm,
};

constexpr Architecture kGlm4 = {
    .model_type = "glm4",
    .name = "glm4",
    .defaults = kGlmDefaults,
    .rules = {kDecoderRules, kAttentionRules, kNormRules, kFusedGateRules,
              kAroundRules},
    .describe = describe_glm,
};

}  // namespace rc::folder
