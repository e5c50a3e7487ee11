// StableLM.
#include "files/folder/architectures/list.h"
#include "files/folder/common_rules.h"

namespace rc::folder {
namespace {

// A norm for each head.
constexpr Rule kStableLmRules[] = {
    {"model.layers.*.self_attn.q_layernorm.norms.*.weight",
     "blk.*.attn_q_norm.weight"},
    {"model.layers.*.self_attn.k_layernorm.norms.*.weight",
     "blk.*.attn_k_norm.weight"},
};

void describe_stablelm(Description& model) {
  const Config& config = model.config();
  expect_text(config, "hidden_act", {"silu"});
  add_decoder(model, {.layer_norm = "layer_norm_eps",
                      .rotated_part = "partial_rotary_factor"});
  model.add_flag("use_parallel_residual",
                 config.find_flag("use_parallel_residual").value_or(false));
}

}  // namespace

constexpr Architecture kStableLm = {
    .model_type = "stablelm",
    .name = "stablelm",
    .defaults = R"({"layer_norm_eps": 1e-5, "max_position_embeddings": 4096,
                    "num_key_value_heads": 32, "partial_rotary_factor": 0.25,
                    "tie_word_embeddings": false})",
    .rules = {kDecoderRules, kAttentionRules, kLayerNormRules, kStableLmRules},
    .describe = describe_stablelm,
};

}  // namespace rc::folder
